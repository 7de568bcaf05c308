"""Help of commands: what a command does, its options in groups, and examples; bold headings on a terminal."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer
from typer.core import TyperCommand, TyperGroup

from tiger.cli.examples import EXAMPLES

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

# Options by their group, groups in the order in which help shows them; those of all commands are in the last one.
GROUPS = {
    "Problem": (
        *("rule", "slots", "imbalance", "pin", "forbid", "objective", "routing", "mode", "contiguous", "schedule"),
        *("kind", "experts", "held_out", "replicas", "duplicates", "groups", "in_use"),
        *("token_s", "token_bytes", "step_tokens", "expert_bytes", "steps", "most_moves"),
        *("microbatches", "microbatch", "batch", "virtual", "pipeline", "tensor", "data", "initial_layout"),
        *("samples", "variables", "threshold", "times", "workload", "iterations"),
    ),
    "Hardware": (
        *("topology", "cluster", "coupling", "node_topology", "levels", "bandwidths", "labels", "units"),
        *("allocation", "nodes", "running"),
    ),
    "Search": (
        "solver",
        "level",
        "effort",
        "islands",
        "time_limit",
        "seed",
        "penalty_scale",
        "beta_range",
        "capacity_encoding",
        "balancer",
    ),
    "Output": ("output", "emit", "json_file", "plot", "top", "show_config"),
    "Where it runs": ("server", "threads", "host", "port"),
}
OTHER = "Other"
# Commands by their group.
COMMANDS = {
    "Map": ("assign", "layout", "place", "ranks", "plan", "rebalance", "experts"),
    "Use other solvers": ("encode", "decode"),
    "Understand": ("explain", "topologies", "solvers"),
    "Run": ("serve", "openapi", "warm", "doctor"),
}
# Columns of the names of options and commands, beyond which their help begins on the next line: a third of 80.
COLUMNS = 26

Record = tuple[str, str]


class Command(TyperCommand):
    """Show options in groups and examples below them."""

    def format_options(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the arguments, then the options by their groups."""
        records: dict[str, list[Record]] = {name: [] for name in ("Arguments", *GROUPS, OTHER)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if param.param_type_name == "argument" else find_group(GROUPS, param.name)
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
                records[find_group(COMMANDS, name)].append((name, " ".join(sentence.split())))
        _write_groups(formatter, records)


def find_group(groups: dict[str, tuple[str, ...]], name: str | None) -> str:
    """Return the group of an option or a command."""
    return next((group for group, names in groups.items() if name in names), OTHER)


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
