"""Loading compiled code: this process never compiles what another can."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tiger.api.middleware import log
from tiger.api.workers import kernels
from tiger.solvers.kernel_folders import Place

CODE = """
import numba
@numba.njit(cache=True)
def count(numbers):
    return numbers.size
"""


@pytest.fixture
def compilations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Have one kernel to load, which is not in the cache; return the commands by which others have compiled it."""
    path, commands = tmp_path / "kernel.py", []
    path.write_text(CODE)

    def run(command: list[str], *, check: bool) -> None:
        commands.append(command)
        kernel(path)(np.zeros(3))

    monkeypatch.setattr(kernels, "_warm", lambda: kernel(path)(np.zeros(3)))
    monkeypatch.setattr(subprocess, "run", run)
    return commands


def kernel(path: Path) -> Any:
    """Return the kernel as a new process would see it."""
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["count"]


def test_bug_what_is_not_compiled_another_process_compiles(
    compilations: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once; from then on it is loaded."""
    kernels.load()
    kernels.load()
    assert [command[-1] for command in compilations] == [kernels.COMPILE]


def test_bug_nothing_was_compiled_twice_where_it_cannot_be_kept(
    compilations: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of its own would take as long, for nothing."""
    monkeypatch.setattr(kernels, "find_place", lambda: Place(folder=None, unwritable=(), lasts=False))
    kernels.load()
    assert compilations == []


def test_a_process_that_is_to_compile_does(compilations: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with the one that has started it."""
    tied: list[bool] = []
    monkeypatch.setattr(kernels, "die_with_parent", lambda: tied.append(True))
    monkeypatch.setattr(log, "configure", bool)
    kernels.compile_all()
    kernels.load()
    assert (tied, compilations) == ([True], [])
