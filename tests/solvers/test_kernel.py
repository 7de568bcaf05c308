"""Tests of how kernels are compiled."""

import gc
import logging
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tiger.solvers import branch_and_bound, construction, kernel
from tiger.solvers.annealing import moves

KERNELS = {
    name: compiled
    for module in (branch_and_bound, construction, moves)
    for name, compiled in vars(module).items()
    if hasattr(compiled, "py_func")
}

CALL = (
    "import numpy as np; from tiger.circuits.routing.renumbering import fill_levels;"
    "none = np.zeros(0, np.int64); fill_levels(none.reshape(0, 2), none, none, none, none)"
)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_let_other_threads_run(name):
    """Tests that none holds the interpreter's lock."""
    assert KERNELS[name].targetoptions["nogil"]


def test_kernels_are_found():
    """Tests that the list above is not empty by accident."""
    assert {"distance", "anneal", "descend", "iterate_local_search", "construct", "branch"} <= KERNELS.keys()


def test_bug_machines_without_a_writable_directory_compile_anew(monkeypatch):
    """Tests that numba's refusal to cache is not the end."""

    def refuse(function):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(kernel, "KernelCache", refuse)
    assert kernel.kernel(lambda x: x + 1)(1) == 2


@pytest.mark.slow
def test_bug_a_cache_of_another_version_is_replaced(tmp_path, monkeypatch):
    """Tests an index that names a type which is no longer there: kernels could not be loaded, nor compiled anew."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    run = [sys.executable, "-c", CALL]
    subprocess.run(run, check=True, capture_output=True)
    for index in tmp_path.rglob("*.nbi"):
        with index.open("rb") as file:
            version = pickle.load(file)
        index.write_bytes(pickle.dumps(version) + pickle.dumps((None, {})).replace(b"N}", b"ctiger.gone\nType\n}"))
    for words in (kernel.MESSAGE, ""):
        assert words in subprocess.run(run, check=True, capture_output=True, text=True).stderr
    assert subprocess.run(run, check=True, capture_output=True).stderr == b""


def test_compiling_is_announced_by_module(caplog):
    """Tests three compilations, the second within the first: a reason once, and a line for each outer module."""

    def begin(module):
        function = SimpleNamespace(__module__=f"tiger.solvers.{module}")
        said.on_start(SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)}))

    said = kernel.Announcement()
    with caplog.at_level(logging.WARNING, "tiger"):
        for outer in ("dense", "annealing", "dense"):
            begin(outer)
            begin("moves")
            said.on_end(None)
            said.on_end(None)
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [kernel.MESSAGE, "compiling: solvers.dense", "compiling: solvers.annealing"]


@pytest.mark.slow
def test_only_compiling_is_announced(tmp_path):
    """Tests two processes that share an empty cache: the first compiles, the second loads."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""}
    command = [sys.executable, "-c", CALL]
    told = [subprocess.run(command, env=environment, check=True, capture_output=True, text=True) for _ in range(2)]
    assert kernel.MESSAGE in told[0].stderr
    assert told[1].stderr == ""


def test_a_kernel_is_compiled_once_for_all_integers_it_is_called_with():
    """Tests constants and 32 bits; the kernel itself has no machine code, the one that calls it has."""

    @kernel.inner_kernel
    def double(value):
        return 2 * value

    @kernel.kernel
    def add(values):
        return double(values[0]) + double(3) + double(len(values))

    assert add(np.arange(4, 8, dtype=np.int32)) == 22
    assert [str(kind) for (kind,) in double.signatures] == ["int64"]


def test_garbage_is_collected_again_after_the_outermost_compilation():
    """Tests two compilations, one within the other, with the collector on and off before."""
    listener = kernel.CollectorPause()
    for before in (True, False):
        (gc.enable if before else gc.disable)()
        for step in (listener.on_start, listener.on_start, listener.on_end):
            step(None)
            assert not gc.isenabled()
        listener.on_end(None)
        assert gc.isenabled() == before
    gc.enable()


@pytest.mark.parametrize(("version", "signatures"), [((0, 62), ["int64"]), ((9, 0), ["Literal[int](3)", "int64"])])
def test_other_versions_of_numba_compile_in_their_own_way(version, signatures, monkeypatch):
    """Tests that a version whose internals are not known is left to itself, with the same result."""
    monkeypatch.setattr(kernel, "VERSION", version)

    @kernel.inner_kernel
    def double(value):
        return 2 * value

    @kernel.kernel
    def add(value):
        return double(value) + double(3)

    assert add(4) == 14
    assert sorted(str(kind) for (kind,) in double.signatures) == signatures
