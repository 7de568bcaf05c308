"""Tests of how kernels are compiled."""

import logging
import subprocess
import sys

import pytest

from tiger.solvers import branch_and_bound as branching
from tiger.solvers import construction, kernel
from tiger.solvers.annealing import moves

KERNELS = {
    name: compiled
    for module in (branching, construction, moves)
    for name, compiled in vars(module).items()
    if hasattr(compiled, "py_func")
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_let_other_threads_run(name):
    """Tests that none holds the interpreter's lock."""
    assert KERNELS[name].targetoptions["nogil"]


def test_kernels_are_found():
    """Tests that the list above is not empty by accident."""
    assert {"distance", "anneal", "descend", "shake", "construct", "branch"} <= KERNELS.keys()


def test_bug_machines_without_a_writable_directory_compile_anew(monkeypatch):
    """Tests that numba's refusal to cache is not the end."""
    seen = []

    def njit(**options):
        seen.append(options.get("cache", False))
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(kernel, "njit", njit)
    assert kernel.kernel(len) is len
    assert seen == [True, False]


def test_compiling_is_announced_once(caplog):
    """Tests what is said when compilations begin, and when they end."""
    said = kernel.Announcement()
    with caplog.at_level(logging.WARNING, "tiger"):
        for _ in range(2):
            said.on_start(None)
            said.on_end(None)
    assert [record.getMessage() for record in caplog.records] == [kernel.MESSAGE]


@pytest.mark.slow
def test_only_compiling_is_announced(tmp_path):
    """Tests two processes that share an empty cache: the first compiles, the second loads."""
    code = (
        "import numpy as np; from tiger.solvers.annealing.moves import copy; copy(np.zeros(1, int), np.zeros(1, int))"
    )
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""}
    command = [sys.executable, "-c", code]
    told = [subprocess.run(command, env=environment, check=True, capture_output=True, text=True) for _ in range(2)]
    assert kernel.MESSAGE in told[0].stderr
    assert told[1].stderr == ""
