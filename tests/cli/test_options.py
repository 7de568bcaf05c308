"""Tests that the options of commands are the fields of their uses."""

from dataclasses import fields

import pytest

from tiger.cli.app import commands
from tiger.cli.building import Group
from tiger.cli.running import list_commands
from tiger.run.use import Command

KNOWN = commands().commands
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
