"""Tests of what the command line writes, and where."""

import io
import os
import subprocess
import sys

import pytest

from tiger.cli import console
from tiger.run.progress import Progress


def test_results_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing of a result is on standard error."""
    console.emit("result\n")
    assert capsys.readouterr() == ("result\n", "")


def test_results_fit_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that knows ASCII alone sees escapes."""
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    console.emit("é\n")
    assert plain.buffer.getvalue() == b"\\xe9\n"


def test_complaints_are_one_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """A line break or an escape in a name cannot make more of it, and markup is none."""
    console.complain("pinned/a\nb", "expected [bold]x[/], got '\x1b[2J'")
    assert capsys.readouterr() == ("", "tiger: error: pinned/a\\nb: expected [bold]x[/], got '\\x1b[2J'\n")


def test_no_progress_without_a_terminal() -> None:
    """A log file gets no bars, and the solver need not report."""
    with console.progress() as show:
        assert show is None


def test_progress_is_shown_and_wiped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On a terminal the stage and its cost are seen, on standard error alone, and wiped at the end."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with console.progress() as show:
        assert show is not None
        show(Progress("anneal", 0.5, 12.0, message="[b]sweep 3[/b]"))
        show(Progress("stitch", None, None))
    out, err = capsys.readouterr()
    assert out == ""
    assert "stitch" in err
    assert err.rstrip("\r").endswith("\x1b[2K")


def test_progress_shows_the_bound_and_the_gap(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """How much better than the best so far a mapping can be at most, where a bound says so."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with console.progress() as show:
        assert show is not None
        show(Progress("anneal", None, 12.0, 9.0))
        show(Progress("bound", None, None, 9.0))
        show(Progress("proof", None, 0.0, 0.0))
    err = capsys.readouterr().err
    assert "proof cost 0 " in err
    assert [console._compare(Progress("", None, *pair)) for pair in ((12.0, 9.0), (None, 9.0), (12.0, 0.0))] == [
        "cost 12 bound 9 gap 25.0%",
        "bound 9",
        "cost 12",
    ]


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("expected one of one-to-one, levels, got 'level'", "; did you mean levels?"),
        ("expected a divisor of 32, as heads are cut, got 3", ""),
        ("expected KIND:.. with a kind out of grid, torus (such as x), got 'tours:4'", "; did you mean torus?"),
        ("expected one of dgx:n, dgx-1v:n, got 'dxg:1'", "; did you mean dgx?"),
        ("expected one of vllm, llama.cpp, torch, got 'llamacpp'", "; did you mean llama.cpp?"),
        ("expected one of 1, 2, got 1.5", ""),
        ("expected one of grid, torus, got 'halo:4'", ""),
        ("expected one of grid, torus, got 'tours'; did you mean 'torus'?", ""),
        ("expected TASK=NODE, got 'TASK'", ""),
        ("expected PART=N,.. with parts out of node, socket, got 'node'", ""),
        ("expected a number >= 1, got 0", ""),
    ],
)
def test_complaints_name_the_nearest_word(reason: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of those that the reason lists, if any is near."""
    console.complain("x", reason)
    assert capsys.readouterr().err == f"tiger: error: x: {reason}{shown}\n"


def test_a_reader_that_leaves_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed pipe ends the output, without a word and without an error, then and later."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        console.emit("x" * 200_000)
        console.emit("y")


def test_what_libraries_print_is_no_result() -> None:
    """They write to the system's descriptor, before a result and after it."""
    code = "import os; from tiger.cli import console; console.open_streams()"
    code += "; os.write(1, b'x'); console.emit('{}'); os.write(1, b'x')"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "{}"
