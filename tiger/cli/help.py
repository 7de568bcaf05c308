"""Help of commands: what a command does, its options in groups, and examples; bold headings on a terminal."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from tiger.cli.examples import EXAMPLES
from tiger.model.spelling import Panel

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

# Groups of commands, in the order in which help shows them, after which those of none come, as those of options do.
COMMANDS = ("Map", "Use other solvers", "Understand", "Run")
OTHER = "Other"
# Columns of the names of options and commands, beyond which their help begins on the next line: a third of 80.
COLUMNS = 26

Record = tuple[str, str]


class Command(TyperCommand):
    """Show options in groups and examples below them."""

    def format_options(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the arguments, then the options by their groups."""
        records: dict[str, list[Record]] = {name: [] for name in ("Arguments", *get_args(Panel), OTHER)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if param.param_type_name == "argument" else panel_of(param)
                records[kind].append(record)
        _write_groups(formatter, records)

    def format_epilog(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write examples, which run as they are in a clone."""
        lines = [line for command in EXAMPLES.get(ctx.command.name or "", ()) for line in command.splitlines()]
        if lines:
            with formatter.section(_heading("Examples")):
                formatter.write("".join(f"  {line}\n" for line in lines))


class Group(TyperGroup):
    """Show commands in groups."""

    def format_options(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the options, then the commands."""
        records = [record for param in self.get_params(ctx) if (record := param.get_help_record(ctx))]
        _write_groups(formatter, {"Options": records})
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the name and the first sentence of every command."""
        records: dict[str, list[Record]] = {name: [] for name in (*COMMANDS, OTHER)}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                sentence = (command.help or "").partition("\n\n")[0]
                records[panel_of(command)].append((name, " ".join(sentence.split())))
        _write_groups(formatter, records)


def panel_of(thing: object) -> str:
    """Return the group of an option or a command."""
    return getattr(thing, "rich_help_panel", None) or OTHER


def _write_groups(formatter: "HelpFormatter", groups: dict[str, list[Record]]) -> None:
    """Write the groups that have records, all their names in a column of one width."""
    names = [name for records in groups.values() for name, _ in records if len(name) <= COLUMNS]
    width = max(map(len, names), default=0)
    for group, records in groups.items():
        if records:
            with formatter.section(_heading(group)):
                formatter.write_dl(list(_pad(records, width)), col_max=width)


def _pad(records: Iterable[Record], width: int) -> Iterable[Record]:
    """Yield records with names of one width, so that the help of all groups begins in one column."""
    return ((f"{name:<{width}}", text) for name, text in records)


def _heading(text: str) -> str:
    """Return a heading, bold on a terminal; what is written elsewhere loses that again."""
    return typer.style(text, bold=True)
