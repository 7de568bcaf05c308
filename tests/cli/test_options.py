"""Tests that the options of commands are those of Python."""

import inspect
from typing import Literal, get_args, get_origin

import pytest

import tiger
from tiger.cli import app

# Commands state their options themselves, since `tiger --help` does not wait for the imports beside those of Python.
SPELT_OTHERWISE = {"time_limit": "time_limit_s", "pin": "pinned", "forbid": "forbidden"}
PYTHON_ALONE = {"executor", "ising", "progress", "commute"}
# What one command of Python has, and of two commands here the other.
OTHER_COMMAND = {"assign": {"emit"}, "ranks": {"tasks", "topology"}}


@pytest.mark.parametrize(
    ("name", "python"),
    [("assign", "assign"), ("ranks", "assign"), ("layout", "layout"), ("place", "place"), ("plan", "plan")],
)
def test_a_command_has_the_options_of_python(name: str, python: str) -> None:
    """Tests their defaults and choices; what else a command has concerns files, pictures, threads and services."""
    command = inspect.signature(getattr(app, name), eval_str=True).parameters
    function = inspect.signature(getattr(tiger, python)).parameters
    shared = {SPELT_OTHERWISE.get(key, key): option for key, option in command.items()}
    assert set(function) - set(shared) <= PYTHON_ALONE | OTHER_COMMAND.get(name, set())
    for key in set(function) & set(shared):
        option, parameter = shared[key], function[key]
        assert option.default == (None if parameter.default == () else parameter.default), key
        assert choices(parameter.annotation) in (set(), choices(option.annotation)), key


def choices(annotation: object) -> set[object]:
    """Return the words of a Literal anywhere in an annotation."""
    if get_origin(annotation) is Literal:
        return set(get_args(annotation))
    return set[object]().union(*map(choices, get_args(annotation)))
