"""Tests of the help of commands: groups of options, examples, and its width."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.lines import KNOWN, commands_of, parse
from tiger.cli.app import run
from tiger.cli.examples import EXAMPLES
from tiger.cli.help import COMMANDS, OTHER, panel_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", KNOWN)
def test_every_option_has_a_group(name: str) -> None:
    """Those of all commands alone are left over; what a command has no group for would be hard to find."""
    options = [param for param in KNOWN[name].params if param.param_type_name == "option"]
    assert [option.name for option in options if panel_of(option) == OTHER] == []


def test_every_command_has_a_group_and_examples() -> None:
    """So that a new one is not forgotten."""
    assert {panel_of(command) for command in KNOWN.values()} == set(COMMANDS)
    assert set(KNOWN) == set(EXAMPLES)


@pytest.mark.parametrize("name", ["", *KNOWN])
def test_help_fits_80_columns_and_is_plain_text(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without codes of a terminal where there is none."""
    assert run([*filter(None, [name]), "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line.isprintable() for line in lines)


def test_headings_are_bold_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """And nowhere else."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    run(["assign", "--help"])
    assert "\x1b[1mSearch\x1b[0m:" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_name_options_and_files_that_there_are(name: str) -> None:
    """Each holds a command of this name; all are parsed here, and run by the long test."""
    for example in EXAMPLES[name]:
        commands = list(commands_of(example))
        assert name in [command[0] for command in commands]
        for command in commands:
            parse(command)
            assert [word for word in command if word.startswith("examples/") and not (ROOT / word).exists()] == []


def test_bug_a_wrong_option_of_an_example_was_not_seen() -> None:
    """What completion parses leniently is refused here, wherever it stands in the code."""
    (command,) = commands_of("echo {} |\\\n  tiger assign - --no-such 'option' > out.txt  # never\ntigers")
    assert command == ["assign", "-", "--no-such", "option"]
    with pytest.raises(Exception, match="no-such"):
        parse(command)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "warm"])
def test_examples_run_as_they_are(name: str, tmp_path: Path) -> None:
    """In a clone, but for a server, which would not end, and the compilation."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    script = "\n".join(example for example in EXAMPLES[name] if "--port" not in example)
    (tmp_path / "tiger").write_text(f'#!/bin/sh\nexec {sys.executable} -m tiger "$@"\n')
    (tmp_path / "tiger").chmod(0o755)
    own = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr


@pytest.mark.long
def test_help_loads_no_library_that_formats_or_solves() -> None:
    """It answers within half a second that way."""
    heavy = {"rich", "scipy", "networkx", "numba", "pydantic_settings", "qiskit", "tiger.run.summary"}
    code = f"import sys; from tiger.cli.app import run; run(['assign', '--help']); print({heavy} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert printed.splitlines()[-1] == "set()"
