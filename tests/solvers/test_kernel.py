"""Tests of how kernels are compiled."""

import pytest

from tiger.solvers import branching, construction, kernel, moves

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
