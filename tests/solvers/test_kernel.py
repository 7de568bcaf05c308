"""Tests of how kernels are compiled."""

import gc
import importlib
import logging
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from zipfile import ZipFile

import numpy as np
import pytest
from numba.core.caching import InTreeCacheLocator
from numba.core.dispatcher import Dispatcher

from tiger.solvers import branch_and_bound, construction, kernel
from tiger.solvers.annealing import cost_changes, moves
from tiger.solvers.annealing.fixed_sums import sum_steps
from tiger.solvers.annealing.price_lanes import add_products, scan_prices
from tiger.solvers.kernel_folders import find_place

KERNELS = {
    name: compiled
    for module in (branch_and_bound, construction, cost_changes, moves)
    for name, compiled in vars(module).items()
    if hasattr(compiled, "py_func")
}

# Plain functions for which compiled code has a replacement.
REPLACED = (sum_steps, scan_prices, add_products)


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
def test_only_compiling_is_announced_and_a_cache_of_another_version_is_replaced(tmp_path):
    """Tests processes that share a cache, at first empty, then with an index of a type that is gone, then whole.

    Kernels could not be loaded then, nor compiled anew.
    """
    source, cache = tmp_path / "late.py", tmp_path / "cache"
    source.write_text("from tiger.solvers.kernel import kernel\n\n@kernel\ndef run(value):\n    return value + 1\n")
    environment = {"NUMBA_CACHE_DIR": str(cache), "PATH": "", "PYTHONPATH": str(tmp_path)}

    def call():
        command = [sys.executable, "-c", "import late; late.run(1)"]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stderr

    assert kernel.MESSAGE in call()
    for index in cache.rglob("*.nbi"):
        with index.open("rb") as file:
            version = pickle.load(file)
        index.write_bytes(pickle.dumps(version) + pickle.dumps((None, {})).replace(b"N}", b"ctiger.gone\nType\n}"))
    assert kernel.MESSAGE in call()
    assert call() == ""


SOURCES = {
    "constants": "STEP = 3\n",
    "callee": """
from tiger.solvers.kernel import inner_kernel

@inner_kernel
def move(value):
    return value + 1
""",
    "between": """
from callee import move
from tiger.solvers.kernel import inner_kernel

@inner_kernel
def move_twice(value):
    return move(move(value))
""",
    "caller": """
from between import move_twice
from constants import STEP
from tiger.solvers.kernel import kernel

@kernel
def run(value):
    return move_twice(value) * STEP
""",
}


@pytest.fixture
def run_anew(tmp_path, monkeypatch):
    """Return a function that writes SOURCES but for some files, imports them anew, and calls the caller with 1.

    A file whose text is None stays as it is.
    """
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(**changed):
        for name, text in (SOURCES | changed).items():
            if text is not None:
                (tmp_path / f"{name}.py").write_text(text)
            sys.modules.pop(name, None)
            kernel.FILES.pop(str(tmp_path / f"{name}.py"), None)
        importlib.invalidate_caches()
        return importlib.import_module("caller").run(1)

    yield run
    for name in SOURCES:
        sys.modules.pop(name, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "result"),
    [("callee", "value + 1", "value + 2", 15), ("between", "move(move(value))", "move(value)", 6)],
)
def test_bug_a_kernel_whose_callee_changes_in_another_file_is_compiled_anew(run_anew, name, old, new, result):
    """Tests that no old code is left in it, and that unchanged files are enough to load it."""
    assert run_anew() == 9
    assert run_anew(**{name: SOURCES[name].replace(old, new)}) == result
    with kernel.refuse_to_compile():
        assert run_anew(**{name: SOURCES[name].replace(old, new)}) == result


@pytest.mark.slow
def test_bug_a_kernel_whose_constant_changes_in_another_file_is_compiled_anew(run_anew):
    """Tests that what else changes beside the constant is no reason."""
    assert run_anew() == 9
    with kernel.refuse_to_compile():
        assert run_anew(constants="OTHER = 1\nSTEP = 3\n") == 9
    assert run_anew(constants="STEP = 4\n") == 12


PAIR = """
from typing import NamedTuple

class Pair(NamedTuple):
    first: int
    second: int
"""
READER = """
from constants import Pair
from tiger.solvers.kernel import kernel

@kernel
def read(pair):
    return pair.first

def run(value):
    return read(Pair(first=value, second=2))
"""


@pytest.mark.slow
def test_bug_a_kernel_whose_argument_has_its_fields_in_another_order_is_compiled_anew(run_anew):
    """Tests a class of tuples that the kernel does not name, in another file."""
    assert run_anew(constants=PAIR, caller=READER) == 1
    swapped = PAIR.replace("first", "other").replace("second", "first").replace("other", "second")
    assert run_anew(constants=swapped, caller=READER) == 1
    with kernel.refuse_to_compile():
        assert run_anew(constants=swapped, caller=READER) == 1


def test_bug_kernels_of_records_failed():
    """Tests a record as an argument, whose fields are those of a dictionary."""

    @kernel.kernel
    def read(record):
        return record.first

    assert read(np.ones(1, [("first", np.int64)])[0]) == 1


def test_bug_files_of_which_numba_tells_the_date_failed(run_anew, monkeypatch):
    """Tests stamps as numba 0.62 makes them, of a file's date and size."""

    def stamp(locator):
        stat = Path(locator._py_file).stat()
        return stat.st_mtime, stat.st_size

    monkeypatch.setattr(InTreeCacheLocator, "get_source_stamp", stamp)
    assert run_anew() == 9
    with kernel.refuse_to_compile():
        assert run_anew(**dict.fromkeys(SOURCES)) == 9


def test_bug_files_in_archives_failed(tmp_path, monkeypatch):
    """Tests a function that is imported from an archive, by two states of it."""
    hashes = []
    for number in range(2):
        path = tmp_path / f"{number}.zip"
        with ZipFile(path, "w") as archive:
            archive.writestr("archived.py", f"def run():\n    return {number}\n")
        monkeypatch.syspath_prepend(str(path))
        hashes.append(kernel.hash_sources(importlib.import_module("archived").run))
        del sys.modules["archived"]
    assert hashes[0] != hashes[1]


def test_kernels_name_what_their_hash_can_tell_apart():
    """Tests all that are loaded: numbers, tuples of named fields, and functions, not through modules of tiger.

    No kernel keeps a value of another file as a default or in a closure.
    """
    kinds = (bool, int, float, np.generic, tuple, type, Dispatcher)
    functions = [module for name, module in sys.modules.items() if name.startswith("tiger.")]
    functions = {found.py_func for module in functions for found in vars(module).values() if hasattr(found, "py_func")}
    assert len(functions) > 50
    for function in functions:
        assert function.__defaults__ is function.__closure__ is None, function
        for name, value in kernel.find_globals(function):
            assert isinstance(value, kinds) or value in REPLACED, (function, name)
            assert not isinstance(value, type) or value._field_defaults == {}, (function, name)
        modules = [function.__globals__.get(name) for name in function.__code__.co_names]
        named = {module.__name__ for module in modules if isinstance(module, ModuleType)}
        assert named <= {"heapq", "math", "numpy"}, function


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
    why = f"{kernel.MESSAGE}; {find_place().describe()}"
    assert lines == [why, "compiling: solvers.dense", "compiling: solvers.annealing"]


@pytest.mark.slow
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
