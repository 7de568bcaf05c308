"""A rank order as a table (RFC 4180) and as a graph of Graphviz."""

import csv
import io
from itertools import groupby

from tiger.launchers.binding import write_numbers
from tiger.launchers.order import RankBinding, RankOrder

HEADER = ("rank", "task", "host", "slot", "unit", "cores", "processors", "gpu", "nic", "threads")


def write_csv(order: RankOrder) -> str:
    """Return a row for every rank, with empty cells for what is not known.

    Cores count as hwloc does, and processors as the operating system.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADER)
    rows.writerows((rank, *_list_cells(binding)) for rank, binding in enumerate(order.bindings))
    return text.getvalue()


def _list_cells(binding: RankBinding) -> tuple[str | int | None, ...]:
    """Return the cells of a rank."""
    bound = binding.bound
    numbers = write_numbers(binding.cores), write_numbers(sorted(bound.cpus))
    return (*binding[:4], *numbers, bound.gpu, bound.nic, bound.threads)


def write_dot(order: RankOrder) -> str:
    """Return an undirected graph with a cluster for every host and a node for every rank, by slot."""
    lines = ["graph ranks {", "  node [shape=box];"]
    for number, (host, ranks) in enumerate(groupby(order.launched, lambda rank: order.bindings[rank].host)):
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quote(host)};"]
        for rank in ranks:
            binding = order.bindings[rank]
            label = f"{rank}\n{binding.unit or f'slot {binding.slot}'}"
            lines.append(f"    {rank} [label={_quote(label)}];")
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _quote(text: str) -> str:
    """Return text as a quoted string of DOT."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def describe_csv(_: RankOrder) -> str:
    """Say what the table holds."""
    return "a row for every rank"


def describe_dot(_: RankOrder) -> str:
    """Return the command that draws the graph."""
    return "dot -Tsvg FILE -o ranks.svg"
