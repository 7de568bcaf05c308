"""The settings of the service."""

import os

import pytest

from tiger.api.settings import Settings, load
from tiger.errors import InputError


def test_the_defaults_bound_bodies_tasks_and_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without variables the documented limits hold."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"TIGER_{name.upper()}", raising=False)
    settings = load()
    assert (settings.max_body_bytes, settings.max_tasks, settings.max_time_s) == (4_194_304, 4096, 60.0)
    assert (settings.workers, settings.max_qubits) == (os.cpu_count(), 1200)
    assert not settings.enable_dwave


def test_a_variable_replaces_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """`TIGER_WORKERS` sets the workers, and `TIGER_ENABLE_DWAVE` opens D-Wave's solvers."""
    monkeypatch.setenv("TIGER_WORKERS", "3")
    monkeypatch.setenv("TIGER_ENABLE_DWAVE", "1")
    assert (load().workers, load().enable_dwave) == (3, True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIGER_WORKERS", "many"),
        ("TIGER_WORKERS", "0"),
        ("TIGER_MAX_TASKS", "-1"),
        ("TIGER_MAX_QUBITS", "0"),
        ("TIGER_MAX_BODY_BYTES", "1.5"),
        ("TIGER_MAX_TIME_S", "inf"),
        ("TIGER_MAX_TIME_S", "0"),
        ("TIGER_ENABLE_DWAVE", "perhaps"),
    ],
)
def test_a_bad_variable_is_named_with_its_value(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """A value out of bounds or of another type is bad input."""
    monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=f"{name}: .*{value}"):
        load()
