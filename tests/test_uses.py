"""Tests of the uses: what each states of itself is there, and one field is an option everywhere."""

import inspect
from dataclasses import dataclass, field, fields

import pytest
import typer

from benchmarks.options import count_files
from tiger.api.schemas.closed import Closed, document_requests
from tiger.cli.building import Group, build_function
from tiger.client import Client
from tiger.errors import InputError
from tiger.model.checking import check_values
from tiger.model.options import about, from_fields, method_from_fields
from tiger.model.spelling import Spelling
from tiger.run.use import Use
from tiger.uses import list_uses


@pytest.mark.parametrize("use", list_uses(), ids=lambda use: use.name)
def test_what_a_use_loads_late_is_there(use: Use) -> None:
    """Its reports have its schema, and what is said and drawn of them can be called, as what loads kernels."""
    schema = {each.name: each.default for each in fields(use.report.load())}["schema"]
    assert schema == use.schema
    assert all(callable(late.load()) for late in (use.summary, use.explanation, use.pictures))
    assert use.kernels is None or all(callable(load) for _, load in use.kernels.stages.load())
    assert all(command.other is None or callable(command.other.load()) for command in use.commands)


@pytest.mark.parametrize("use", list_uses(), ids=lambda use: use.name)
def test_signatures_are_the_fields(use: Use) -> None:
    """Those of the function of Python and of the method of the client, with their defaults."""
    stated = inspect.signature(use.call).parameters
    functions = [use.answer.load(), *([getattr(Client, use.name)] if use.remote else [])]
    for function in functions:
        parameters = dict(inspect.signature(function).parameters)
        parameters.pop("self", None)
        assert {name: each.default for name, each in parameters.items()} == {
            name: each.default for name, each in stated.items()
        }


@pytest.mark.long
def test_few_files_of_fronts_name_an_option() -> None:
    """One where JSON has another form, and the client that makes it of what Python is given."""
    counts = {option: files for option, files in count_files().items() if len(files) > 2}
    assert counts == {}


@dataclass(frozen=True, kw_only=True)
class DigOptions:
    """Stand for the options of a use."""

    depth: int = field(default=3, metadata=about("How deep.", Spelling("Dig so deep.", metavar="N"), ge=1, le=9))
    words: str | None = None


@dataclass(frozen=True, kw_only=True)
class DigRequest(DigOptions, Closed):
    """Stand for the request of a use."""


def test_one_field_is_an_option_of_every_front() -> None:
    """Of Python, the command and its help, REST and its schema, and the client; its bounds are checked once."""

    class Digger:
        @method_from_fields(DigOptions)
        def dig(self, call: DigOptions) -> int:
            return call.depth

    assert from_fields(DigOptions)(lambda call: call.depth)(depth=4) == Digger().dig(depth=4) == 4
    assert DigRequest.read({"depth": 4}).depth == 4
    known = document_requests([DigRequest])["DigRequest"]
    assert known["properties"]["depth"] == {
        "default": 3,
        "description": "How deep.",
        "maximum": 9,
        "minimum": 1,
        "title": "Depth",
        "type": "integer",
    }
    with pytest.raises(InputError, match="depth: expected a whole number from 1 to 9, got 10"):
        check_values(DigOptions(depth=10))


def test_one_field_is_an_option_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    """One that says how it is spelled, and no other."""
    group, seen = Group(kind=DigOptions), list[dict[str, object]]()
    app = typer.Typer(rich_markup_mode=None)
    app.command()(build_function("dig", "Dig.", [group], lambda _, given: seen.append(group.read(given)) or 0))
    command = typer.main.get_command(app)
    command.main(["--depth", "4"], standalone_mode=False)
    assert seen == [{"depth": 4}]
    command.main(["--help"], standalone_mode=False)
    out = capsys.readouterr().out
    assert ("--depth N" in out, "Dig so deep." in out, "[default: 3]" in out, "words" in out) == (True,) * 3 + (False,)
