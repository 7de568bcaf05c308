"""Tests of loading the kernels."""

import logging
import time

import pytest

from tiger.solvers import warm


@pytest.fixture(autouse=True)
def _forget():
    """Let every test load the kernels as a new process would."""
    warm.ready.cache_clear()
    yield
    warm.ready.cache_clear()


def test_warming_says_what_comes_next():
    """Tests the progress of `tiger warm`."""
    said = []
    warm.warm(said.append)
    assert said == ["greedy construction", "local search", "branch and bound", "other objectives"]


def test_compiling_is_announced(monkeypatch, caplog):
    """Tests that loading that takes long tells why, and only once."""
    monkeypatch.setattr(warm, "PATIENCE_S", 0.01)
    monkeypatch.setattr(warm, "warm", lambda progress: time.sleep(0.2))
    with caplog.at_level(logging.WARNING, "tiger"):
        warm.ready()
        warm.ready()
    assert [record.getMessage() for record in caplog.records] == [warm.MESSAGE]


def test_loading_from_the_cache_is_silent(monkeypatch, caplog):
    """Tests that nothing is said where nothing takes long."""
    monkeypatch.setattr(warm, "warm", lambda progress: None)
    with caplog.at_level(logging.WARNING, "tiger"):
        warm.ready()
        time.sleep(0.05)
    assert not caplog.records
