"""Tests that the options of commands are the fields of their uses."""

import inspect
from dataclasses import MISSING, dataclass, field, fields

import pytest
import typer

from tiger.cli.app import app
from tiger.cli.building import Group, build_function
from tiger.cli.running import list_commands
from tiger.model.options import about
from tiger.model.spelling import Spelling
from tiger.run.use import Command, Use
from tiger.uses import list_uses

KNOWN = typer.main.get_command(app).commands
# What only Python has, as no text says it or there is but one sensible value on a command line.
PYTHON_ALONE = {"executor", "ising", "progress", "commute"}


@pytest.mark.parametrize("command", [command for _, command in list_commands()], ids=lambda command: command.name)
def test_a_command_has_the_options_of_its_use(command: Command) -> None:
    """All but those that it leaves out on purpose, with their defaults."""
    options = {param.name: param for param in KNOWN[command.name].params}
    spelled = Group(kind=command.call, omits=command.omits, spellings=command.spellings)
    assert {option.name for option in spelled.options()} <= set(options)
    left = {each.name for each in fields(command.call)} - {option.field.name for option in spelled.options()}
    assert left <= PYTHON_ALONE | command.omits
    for option in spelled.options():
        if isinstance(option.field.default, int | float | str):
            assert options[option.name].default == option.field.default


@pytest.mark.parametrize("use", list_uses(), ids=lambda use: use.name)
def test_what_a_use_loads_late_is_there(use: Use) -> None:
    """What answers it takes the fields of its options, and its reports have its schema."""
    parameters = inspect.signature(use.answer.load()).parameters
    assert set(parameters) == {each.name for each in fields(use.call)}
    schema = {each.name: each.default for each in fields(use.report.load())}["schema"]
    assert (schema, callable(use.summary.load()), callable(use.explanation.load())) == (use.schema, True, True)
    assert all(command.other is None or callable(command.other.load()) for command in use.commands)


def test_a_new_field_is_an_option() -> None:
    """One field, with its text, its bounds and its parser."""

    @dataclass(frozen=True, kw_only=True)
    class Options:
        depth: int = field(default=3, metadata=about("How deep.", Spelling(ranged=True), ge=1, le=9))
        words: list[str] | None = field(default=None, metadata=about("Words.", Spelling(parse=str.split)))
        hidden: int = 0

    group, seen = Group(kind=Options), list[dict[str, object]]()
    built = typer.Typer()
    built.command()(build_function("dig", "Dig.", [group], lambda _, given: seen.append(group.read(given)) or 0))
    command = typer.main.get_command(built)
    command.main(["--depth", "4", "--words", "a b"], standalone_mode=False)
    assert seen == [{"depth": 4, "words": ["a", "b"]}]
    assert [param.name for param in command.params if param.name in ("depth", "words", "hidden")] == ["depth", "words"]
    assert fields(Options)[0].default is not MISSING
