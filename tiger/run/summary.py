"""Reports as a person reads them on a terminal: what the summaries of all uses have in common."""

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from tiger.model.units import number_text as number
from tiger.model.violation import Violation, unmet_text
from tiger.run.stage import Detail, Stage
from tiger.run.terminal import columns, escape

if TYPE_CHECKING:
    from tiger.run.samples import BestReads, SamplingReport

# Rows of a table on a terminal, beyond which --json is easier to read, and characters of a line where there is none.
SHOWN, WIDTH = 40, 100
# Blanks between the columns of a table, what is left of a column of words where a terminal is narrow, and the length of
# names that are never cut, such as SPECs, which people copy.
GUTTER, NARROW, NAME = 2, 10, 24


def describe_unmet(violations: Sequence[Violation], wanted: str = "mapping") -> str:
    """Return one sentence on what has no solution, or none that was found, then what cannot be met."""
    lines = [f"  {violation.kind}: {violation.message}\n" for violation in violations]
    return "".join([f"{unmet_text(violations, wanted)}\n", *lines[:SHOWN], rest_text(len(lines), "violations"), "\n"])


def warnings(texts: Sequence[str]) -> str:
    """Return a line for each warning."""
    return "".join(f"warning: {escape(warning)}\n" for warning in texts)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows under a header, in the width of the terminal: texts are wrapped there, figures and names are not."""
    grid = Table(box=None, pad_edge=False, padding=(0, GUTTER, 0, 0), header_style="bold")
    body, least = list(rows), 0
    for k, name in enumerate(header):
        whole = bool(body) and all(_is_whole(row[k]) for row in body)
        widest = max(cell_len(cell) for cell in (name, *(row[k] for row in body)))
        grid.add_column(name, no_wrap=whole, overflow="fold")
        least += GUTTER + (widest if whole else min(widest, NARROW))
    for row in body:
        grid.add_row(*row)
    page = io.StringIO()
    Console(file=page, markup=False, highlight=False, emoji=False, width=max(columns() or WIDTH, least)).print(grid)
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def _is_whole(cell: str) -> bool:
    """Return whether a cell is a figure, one that there is not, or a name that is short enough to be left as it is."""
    return cell == "-" or cell.lstrip("-+.")[:1].isdigit() or (" " not in cell and len(cell) <= NAME)


def list_facts(facts: Mapping[str, str]) -> str:
    """Return facts, one a line."""
    return "".join(f"{name:<20} {fact}\n" for name, fact in facts.items())


def list_samples(drawn: "SamplingReport | None", text: Callable[[float | None], str], why: str) -> dict[str, str]:
    """Return what a sampler drew and what that is worth beside coin flips, or `why` it was not asked.

    Costs are written by `text`. Nothing of a solver that is no sampler.
    """
    if drawn is None:
        return {}
    if not drawn.calls:
        return {"samples": f"none: {why}"}
    share = "" if drawn.feasible_share is None else f", {drawn.feasible_share:.0%} feasible as they came"
    access = "" if drawn.access_time_s is None else f", {drawn.access_time_s:.3g} s on the machine"
    facts = {"samples": f"{drawn.calls:,} calls, {drawn.reads:,} reads{share}{access}"}
    if drawn.cost_of_reads is not None and drawn.cost_of_control is not None:
        facts["  best read"] = _best(drawn.cost_of_reads, text)
        facts["  best coin flips"] = _best(drawn.cost_of_control, text)
        facts["  of the sampler"] = drawn.verdict or "-"
    return facts


def _best(costs: "BestReads", text: Callable[[float | None], str]) -> str:
    """Return the costs of the best of some reads on their way."""
    if costs.polished is None:
        return "none but what was known before"
    raw = "none feasible" if costs.raw is None else f"{text(costs.raw)} as it came"
    return f"{raw}, {text(costs.repaired)} repaired, {text(costs.polished)} polished"


def list_stages(stages: Sequence[Stage], cost: str = "best cost") -> str:
    """Return what each stage reached and took."""
    if not stages:
        return ""
    rows = [(s.name, _best_cost(s.cost), f"{s.seconds:.3f}", _details(s.detail)) for s in stages]
    return "\n" + table(("stage", cost, "seconds", "details"), rows)


def _best_cost(cost: float) -> str:
    """Return the best cost at the end of a stage, a dash where nothing is known yet."""
    return number(cost if math.isfinite(cost) else None)


def _details(detail: Mapping[str, Detail]) -> str:
    """Return the plain figures of a stage; the nested ones are for JSON."""
    plain = {name: value for name, value in detail.items() if isinstance(value, str | int | float)}
    return ", ".join(f"{name} {number(value)}" for name, value in plain.items())


def origin_text(solver: str, seed: int, islands: int) -> str:
    """Return the solver with its seed, and its islands where these are several."""
    return f"{solver}, seed {seed}" + (f", {islands} islands" if islands > 1 else "")


def gap_text(gap: float | None, bound: float | None) -> str:
    """Return how much of the cost a lower bound leaves open."""
    if gap is not None:
        return f"{gap:.2%}"
    return "-" if bound is None else "no useful bound"


def rest_text(count: int, what: str) -> str:
    """Return a note on what has been left out, if anything."""
    return f"and {count - SHOWN} more {what}; --json has them all\n" if count > SHOWN else ""
