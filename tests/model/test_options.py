"""Tests of options that are stated once, as the fields of a dataclass."""

import inspect
from dataclasses import dataclass, field

import pytest

from tiger.model.options import about, from_fields, list_from_fields, method_from_fields, narrow


@dataclass(frozen=True)
class Effort:
    """Hold an option with a default."""

    effort: int = field(default=1, metadata=about("how much is done", ge=1), kw_only=True)


@dataclass(frozen=True)
class Call(Effort):
    """Hold what a function is called with."""

    tasks: str


@from_fields(Call)
def count(call: Call) -> int:
    """Return the effort for each letter."""
    return call.effort * len(call.tasks)


class Counter:
    """Count by a method."""

    @method_from_fields(Call)
    def count(self, call: Call) -> int:
        """Return the effort for each letter."""
        return call.effort * len(call.tasks)


def test_functions_take_the_fields_as_arguments():
    """Tests values by position and by name, defaults, and what `help` shows."""
    assert count("abc") == count(tasks="abc") == Counter().count("abc") == 3
    assert count("abc", effort=2) == Counter().count("abc", effort=2) == 6
    assert str(inspect.signature(count)) == "(tasks: str, *, effort: int = 1) -> int"
    assert list(inspect.signature(Counter.count).parameters) == ["self", "tasks", "effort"]
    assert count.__doc__ == "Return the effort for each letter."


@pytest.mark.parametrize("function", [count, Counter().count])
def test_wrong_arguments_are_errors_of_the_function(function):
    """Tests that messages name the function that was called, and not the class that holds its arguments."""
    with pytest.raises(TypeError, match=r"^count\(\): got an unexpected keyword argument 'ranks'$"):
        function("abc", ranks=3)
    with pytest.raises(TypeError, match=r"^count\(\): missing a required argument: 'tasks'$"):
        function()


def test_options_of_one_kind_are_taken_out_of_others():
    """Tests a value that is kept and one that is changed."""
    assert narrow(Effort, Call("abc", effort=4)) == Effort(effort=4)
    assert narrow(Effort, Call("abc", effort=4), effort=2) == Effort(effort=2)


@dataclass(frozen=True)
class ListCall(Effort):
    """Hold what a function is called with for a list."""

    tasks: "list[str]"
    share: int = 1


@list_from_fields(Call, ListCall, lambda call: call.effort * len(call.tasks))
def count_each(call: ListCall) -> list[int]:
    """Return the effort for each letter of every text."""
    return [call.share * call.effort * len(text) for text in call.tasks]


def test_functions_take_one_thing_or_a_list():
    """Tests both by position and by name, and what `help` shows; an argument of lists alone is refused with one."""
    assert (count_each("abc", effort=2), count_each(tasks="abc")) == (6, 3)
    assert (count_each(["abc", "d"], share=2), count_each(tasks=("abc",))) == ([6, 2], [3])
    shown = "(tasks: 'str | list[str]', share: int = 1, *, effort: int = 1)"
    assert str(inspect.signature(count_each)).startswith(shown)
    with pytest.raises(TypeError, match=r"^count_each\(\): got an unexpected keyword argument 'share'$"):
        count_each("abc", share=2)
