"""Tests of compiling kernels by command."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tiger.bounds import warm as bounds
from tiger.circuits import warm as circuits
from tiger.cli import app, console
from tiger.cli import warm as warming
from tiger.expert_maps import warm as expert_maps
from tiger.placement import warm as placement
from tiger.rebalancing import warm as rebalancing
from tiger.solvers import warm as searches
from tiger.solvers.kernel import UncompiledError
from tiger.solvers.kernel_folders import Place

PLACE = (*placement.KERNELS, *expert_maps.KERNELS, *rebalancing.KERNELS)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no folder to keep kernels in."""
    place = Place(folder=None, unwritable=(Path("/opt/kernels"), Path("/root/.cache/numba")), lasts=False)
    monkeypatch.setattr(warming, "find_place", lambda: place)


def test_bug_kernels_that_cannot_be_kept_are_not_compiled_for_nothing(
    nowhere: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says which folders cannot be written to, and ends as with other bad input."""

    def load() -> None:
        raise UncompiledError

    monkeypatch.setattr(warming, "stages_of", lambda _: [("ring", load)])
    assert app.run(["warm"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "NUMBA_CACHE_DIR: expected a folder that can be written to, as none can of /opt/kernels, /root/" in said


def test_kernels_that_are_there_need_no_folder_to_be_kept_in(nowhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an image whose file system is read alone."""
    monkeypatch.setattr(warming, "stages_of", lambda _: [("ring", bool)])
    monkeypatch.setattr(warming, "ProcessPoolExecutor", lambda _, **_others: ThreadPoolExecutor(1))
    assert app.run(["warm"]) == 0


def test_bug_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Kernels that were compiled and could not be written are compiled again by whoever needs them."""
    monkeypatch.setattr(warming, "LOSSES", [OSError(28, "No space left on device")])
    monkeypatch.setattr(warming, "stages_of", lambda _: [("ring", bool)])
    monkeypatch.setattr(warming, "ProcessPoolExecutor", lambda _, **_others: ThreadPoolExecutor(1))
    assert app.run(["warm"]) == 2
    assert "No space left on device" in " ".join(capsys.readouterr().err.split())


def test_a_command_warms_what_it_uses() -> None:
    """Layouts use the searches, placements of networks do not."""
    layout, place = ({name for name, _ in warming.stages_of({command})} for command in ("layout", "place"))
    assert layout == {*circuits.KERNELS, *searches.KERNELS}
    assert place == set(PLACE)


def test_an_unknown_command_is_bad_input() -> None:
    """The message lists the known ones."""
    done = CliRunner().invoke(app.app, ["warm", "play"])
    assert done.exit_code != 0
    assert re.search("assign, layout, place", str(done.exception))


@pytest.mark.parametrize("terminal", [False, True])
def test_what_is_done_is_shown(
    terminal: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line each, or a bar."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: bool(terminal))
    with console.count("compiling") as show:
        show("routing", 1, 2)
    text = capsys.readouterr().err
    assert "routing" in text if terminal else text == "compiling: routing, 1 of 2\n"


# Kernels by module, the ones that are loaded, and those that these call; then what the doctor says, who loads them too.
SCRIPT = """
import importlib, json, pkgutil
from concurrent.futures import ThreadPoolExecutor
import tiger
from numba.core.dispatcher import Dispatcher
from tiger.cli import app, warm

kernels = {}
for found in pkgutil.walk_packages(tiger.__path__, "tiger."):
    # The service has no kernels, and modules that run when they are imported.
    if not found.name.startswith("tiger.api") and not found.name.endswith("__main__"):
        module = importlib.import_module(found.name)
        own = {k: v for k, v in vars(module).items() if isinstance(v, Dispatcher)}
        kernels |= {v: f"{module.__name__}.{k}" for k, v in own.items() if v.py_func.__module__ == module.__name__}
warm.ProcessPoolExecutor = lambda _, **_others: ThreadPoolExecutor(1)
steps = []
warm.warm_all(warm.COMMANDS, lambda *step: steps.append(step))
compiled = {kernel for kernel in kernels if kernel.signatures}
waiting = list(compiled)
while waiting:
    function = waiting.pop().py_func
    called = {function.__globals__.get(name) for name in function.__code__.co_names} & kernels.keys()
    waiting += called - compiled
    compiled |= called
missing = sorted(kernels[kernel] for kernel in kernels.keys() - compiled)
print(json.dumps({"count": len(kernels), "missing": missing, "steps": steps}))
raise SystemExit(app.run(["doctor"]))
"""


@pytest.mark.slow
def test_bug_every_kernel_is_compiled_by_stages_that_are_counted_and_then_the_machine_is_well() -> None:
    """In a process that has done nothing else, as a kernel that no stage loads would cost the first run; no error."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    line, verdict, *_ = done.stdout.splitlines()
    found = json.loads(line)
    assert found["count"] > 200
    assert found["missing"] == []
    names = [*circuits.KERNELS, *searches.KERNELS, *PLACE, *bounds.KERNELS]
    assert len(names) == 26
    assert sorted(name for name, _, _ in found["steps"]) == sorted(names)
    assert [step[1:] for step in found["steps"]] == [[done, len(names)] for done in range(1, len(names) + 1)]
    assert verdict == "all that is needed works"
