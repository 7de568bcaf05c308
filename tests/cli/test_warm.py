"""Tests of compiling kernels by command."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

from tiger.bounds import warm as bounds
from tiger.circuits import warm as circuits
from tiger.cli import app, console
from tiger.cli import warm as warming
from tiger.pipeline import warm as placements
from tiger.solvers import warm as searches


@pytest.mark.slow
def test_all_stages_are_warmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of bounds, of circuits and of placements, beside those of all other searches, each once and counted."""
    seen: list[tuple[str, int, int]] = []
    monkeypatch.setattr(warming, "ProcessPoolExecutor", lambda _, **_others: ThreadPoolExecutor(1))
    warming.warm_all(warming.COMMANDS, lambda *step: seen.append(step))
    names = [*circuits.KERNELS, *searches.KERNELS, *placements.KERNELS, *bounds.KERNELS]
    assert sorted(name for name, _, _ in seen) == sorted(names)
    assert [step[1:] for step in seen] == [(done, len(names)) for done in range(1, len(names) + 1)]


def test_a_command_warms_what_it_uses() -> None:
    """Layouts use the searches, placements of networks do not."""
    layout, place = ({name for name, _ in warming.stages_of({command})} for command in ("layout", "place"))
    assert layout == {*circuits.KERNELS, *searches.KERNELS}
    assert place == set(placements.KERNELS)


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
