"""Commands of uses: from what was given to the exit code, by what each use states of itself."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from typing import cast

import typer

from tiger.cli import console
from tiger.cli.building import Group, build_function
from tiger.cli.console import INFEASIBLE, OK
from tiger.cli.options import Json, Picture, Server, Threads
from tiger.client.service import open_client
from tiger.model.answer import Answer
from tiger.run.use import Command, Delivery, Use
from tiger.uses import list_uses


def list_commands() -> Iterator[tuple[Use, Command]]:
    """Yield the commands of all uses."""
    for use in list_uses():
        yield from ((use, command) for command in use.commands)


def build_command(use: Use, command: Command) -> Callable[..., int]:
    """Return the function of a command of a use."""
    groups = [_group(command), Group(kind=command.delivery), *map(_general, _list_general(use, command))]
    return build_function(command.name, command.help, groups, partial(_run, use, command))


def _group(command: Command) -> Group:
    """Return the options of the call that a command makes."""
    return Group(kind=command.call, omits=command.omits, spellings=command.spellings)


def _general(kind: type) -> Group:
    """Return options that are not of one command."""
    return Group(kind=kind)


def _list_general(use: Use, command: Command) -> list[type]:
    """Return the options of a command that are not of its use."""
    names = _names(command.call)
    threads = [Threads] if "executor" in names and "threads" not in names else []
    return [*threads, Picture, *([Server] if use.remote else []), Json]


def _names(kind: type) -> set[str]:
    """Return the names of the fields of a dataclass."""
    return {each.name for each in fields(kind)}


def _run(use: Use, command: Command, context: typer.Context, given: dict[str, object]) -> int:
    """Run a command, or the one that it hands over to."""
    handed = None if command.other is None else command.other.load()(given, _list_given(context))
    if handed is None:
        return _answer(use, command, given)
    name, rest = handed
    return next(_answer(other, each, rest) for other, each in list_commands() if each.name == name)


def _list_given(context: typer.Context) -> frozenset[str]:
    """Return the names of what was stated on the command line or in the environment."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    usual = {"DEFAULT", "DEFAULT_MAP"}
    return frozenset(name for name, source in sources.items() if source is not None and source.name not in usual)


def _answer(use: Use, command: Command, given: Mapping[str, object]) -> int:
    """Answer what is asked, here or by a service, and deliver the report."""
    asked = _group(command).read(given)
    delivery = cast(Delivery[Answer], Group(kind=command.delivery).make(given))
    json_file, plot = (cast(str | None, given.get(name)) for name in ("json_file", "plot"))
    where = cast(Server, _general(Server).make(given))
    threads = cast(int, given.get("threads", 1))
    console.check_report(json_file)
    delivery.check(asked, json_file)
    asked |= delivery.add_options(asked)
    console.check_plot(plot)
    summary = use.summary.load()
    with (
        console.name_hardware(command.hardware),
        open_client(where.server, threads, where.tags, where.priority) as client,
        console.progress() as show,
        console.pool(threads if Threads in _list_general(use, command) else 1) as executor,
    ):
        ways = {"progress": show, "executor": executor}
        asked |= {name: value for name, value in ways.items() if name in _names(command.call)}
        answer = use.answer.load() if client is None else getattr(client, use.name)
        report = cast(Answer, answer(**asked))
    delivery.write(report)
    console.write_plot(report, plot)
    console.deliver(report, json_file, summary, delivery.replace_summary)
    sys.stderr.write(delivery.advise(report))
    return OK if report.feasible and delivery.accept(report) else INFEASIBLE
