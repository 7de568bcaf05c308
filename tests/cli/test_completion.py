"""Tests of what shells complete."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tiger.cli import completion
from tiger.cli.app import run
from tiger.formats.patterns import spec as patterns
from tiger.solvers.registry import list_solvers
from tiger.topologies import spec as topologies
from tiger.training.models import named
from tiger.training.models.spec import SYNTAX

Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Complete:
    """Return a function that answers as bash would be answered, in a folder with a few files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces").mkdir()
    for name in ("ring.json", ".ring", "neal.txt"):
        (tmp_path / name).touch()
    monkeypatch.setenv("_TIGER_COMPLETE", "complete_bash")

    def ask(line: str) -> list[str]:
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
        with pytest.raises(SystemExit) as ended:
            run([])
        assert ended.value.code == 0
        return capsys.readouterr().out.split()

    return ask


def test_the_values_are_those_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are written down twice, so that no room is loaded at every key."""
    assert tuple(kind.example for kind in patterns.KINDS) == completion.TASKS
    assert tuple(kind.example for kind in topologies.KINDS) == completion.TOPOLOGIES
    assert (SYNTAX, *named.MODELS) == completion.MODELS
    assert {solver.name for solver in list_solvers()} == set(completion.complete_solvers(""))
    monkeypatch.setattr(completion, "entry_points", lambda **_: [SimpleNamespace(name="annealer")])
    assert completion.complete_solvers("a") == ["auto", "annealer"]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("tiger ass", ["assign"]),
        ("tiger assign r", ["ring:64", "ring.json"]),
        ("tiger assign t --topology t", ["torus:8x8x8", "tree:4x8x8@1,10,100", "traces/"]),
        ("tiger ranks t --cluster hea", ["heavy-hex:7"]),
        ("tiger layout c --coupling dr", ["dragonfly:4,2,9"]),
        ("tiger assign t --solver ne", ["neal"]),
        ("tiger ranks t --emit op", ["openmpi"]),
        ("tiger assign t --rul", ["--rule"]),
    ],
)
def test_commands_options_and_values_are_completed(complete: Complete, line: str, values: list[str]) -> None:
    """SPECs come with the files that begin so, hidden ones left out."""
    assert complete(line) == values


@pytest.mark.parametrize("line", ["tiger assign n", "tiger layout r", "tiger assign t --json r", "tiger assign ../"])
def test_shells_complete_what_is_a_file_alone(complete: Complete, line: str) -> None:
    """No answer leaves that to them, who know folders and blanks."""
    assert complete(line) == []


def test_a_folder_that_cannot_be_read_has_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell gets no traceback."""

    def fail(_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.scandir", fail)
    assert completion.complete_tasks("ring") == ["ring:64"]


@pytest.mark.long
def test_completion_loads_nothing_that_solves() -> None:
    """It is asked at every key, and answers in a quarter of a second that way."""
    code = (
        "import sys, atexit; atexit.register(lambda: print({'scipy', 'networkx', 'rich', 'numba'} & set(sys.modules)))"
    )
    asked = {"_TIGER_COMPLETE": "complete_bash", "COMP_WORDS": "tiger assign t --topology gr", "COMP_CWORD": "4"}
    command = [sys.executable, "-c", f"{code}; from tiger.cli.app import main; main()"]
    done = subprocess.run(command, env=os.environ | asked, check=True, capture_output=True, text=True)
    assert "grid:4x4" in done.stdout
    assert not {"scipy", "networkx", "rich", "numba"} & set(done.stdout.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_can_be_shown(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has the shell ask this command."""
    monkeypatch.setattr("shellingham.detect_shell", lambda: (shell, f"/bin/{shell}"))
    with pytest.raises(SystemExit) as ended:
        run(["--show-completion"])
    assert ended.value.code == 0
    assert f"_TIGER_COMPLETE=complete_{shell}" in capsys.readouterr().out
