"""Tests of the variables that TIGER reads."""

import pytest

from tiger.api.settings import Settings
from tiger.circuits.transpiler import environment
from tiger.cli import variables
from tiger.cli.app import commands, run


def test_the_names_are_those_that_are_read() -> None:
    """They are written down twice, so that no command waits for the settings."""
    assert tuple(f"{variables.PREFIX}{name.upper()}" for name in Settings.model_fields) == variables.SERVICE
    own = environment
    assert variables.PLUGIN == (own.EFFORT, own.OBJECTIVE, own.QUBITS, own.SOLVER, own.TIME)


def test_all_commands_that_a_service_may_run_read_its_variables() -> None:
    """So that no misspelt TIGER_SERVER has one of them run here without a word."""
    known = commands().commands
    remote = {name for name, command in known.items() if any(param.name == "server" for param in command.params)}
    assert {name for name, read in variables.READ.items() if read == variables.CLIENT} == remote


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("TIGER_SERVR", "TIGER_SERVER"),
        ("TIGER_APIKEY", "TIGER_API_KEY"),
        ("TIGER_MAX_TASK", "TIGER_MAX_TASKS"),
        ("TIGER_DATABASE_URI", "TIGER_DATABASE_URL"),
    ],
)
def test_almost_a_name_is_one_misspelt(name: str, near: str) -> None:
    """A letter or two more, less or other."""
    assert variables.list_misspelt({name: "x"}) == [(name, near)]


@pytest.mark.parametrize("name", ["TIGER_PARENT", "TIGER_TEST_POSTGRES", "TIGER_FUZZ", "TIGER", "HOME", "tiger_servr"])
def test_other_names_are_not_looked_at(name: str) -> None:
    """Tests and other programmes have variables of their own."""
    assert variables.list_misspelt({name: "x"}) == []


@pytest.mark.parametrize("name", variables.KNOWN)
def test_known_names_are_not_misspelt(name: str) -> None:
    """TIGER_API_KEY and TIGER_API_KEYS are both read."""
    assert variables.list_misspelt({name: "x"}) == []
    assert variables.list_set({name: "x"}) == [name]


@pytest.mark.parametrize(
    ("command", "name", "warned"),
    [
        (["assign", "ring:4", "--topology", "ring:4"], "TIGER_SERVR", True),
        (["assign", "ring:4", "--topology", "ring:4"], "TIGER_MAX_TASK", False),
        (["serve", "--show-config"], "TIGER_MAX_TASK", True),
        (["solvers"], "TIGER_SERVR", False),
    ],
)
def test_commands_warn_about_what_they_read(
    command: list[str],
    name: str,
    warned: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Once, on standard error, and go on."""
    monkeypatch.setenv(name, "secret")
    assert run(command) == 0
    err = capsys.readouterr().err
    assert err.count(f"tiger: warning: {name} is not a variable of TIGER; did you mean ") == int(bool(warned))
    assert "secret" not in err
