"""A report as a person reads it on a terminal."""

import io
import sys
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from tiger.console import printable
from tiger.report import Detail, Report, Stage

SHOWN = 40
NARROWEST = 100


def summary(report: Report) -> str:
    """Return the outcome, what each stage contributed, warnings and the mapping, of which at most 40 tasks."""
    parts = [_headline(report), _facts(report), _stages(report.stages)]
    parts += [f"warning: {warning}\n" for warning in report.warnings]
    if report.feasible:
        shown = list(report.mapping.items())[:SHOWN]
        rows = [(printable(task), printable(node)) for task, node in shown]
        parts += ["\n", table(("task", "node"), rows), _rest(len(report.mapping), "tasks")]
    return "".join(parts)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows under a header, in the width of the terminal."""
    grid = Table(*header, box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for row in rows:
        grid.add_row(*row)
    page = io.StringIO()
    width = None if sys.stdout.isatty() else NARROWEST
    Console(file=page, markup=False, highlight=False, emoji=False, width=width).print(grid)
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def _headline(report: Report) -> str:
    """Return one sentence on the outcome, then what cannot be met if nothing is feasible."""
    if report.cost is None:
        lines = [f"  {violation.kind}: {violation.message}\n" for violation in report.violations]
        return "".join(["infeasible: no mapping meets\n", *lines[:SHOWN], _rest(len(lines), "violations"), "\n"])
    if not report.baseline_cost or report.cost == report.baseline_cost:
        return f"solved: cost {number(report.cost)}, as in the baseline\n\n"
    saved = (report.baseline_cost - report.cost) / report.baseline_cost
    return f"solved: cost {number(report.cost)}, {saved:.1%} below the baseline of {number(report.baseline_cost)}\n\n"


def _facts(report: Report) -> str:
    """Return the figures of the outcome, one a line."""
    facts = {
        "cost": number(report.cost),
        "  of compute": number(report.compute_cost),
        "  of communication": number(report.communication_cost),
        "baseline": number(report.baseline_cost),
        "lower bound": number(report.lower_bound),
        "gap": "-" if report.gap is None else f"{report.gap:.2%}",
        "optimal": "yes" if report.optimal else "not proved",
        "feasible": "yes" if report.feasible else "no",
        "rule": report.rule,
        "solver": f"{report.solver}, seed {report.seed}",
        "seconds": f"{report.seconds:.3f}",
        **{name.replace("_", " "): number(value) for name, value in report.metrics.items()},
    }
    if report.objective:
        facts[f"objective {report.objective.name}"] = number(report.objective.value)
    return "".join(f"{name:<20} {fact}\n" for name, fact in facts.items())


def _stages(stages: Sequence[Stage]) -> str:
    """Return what each stage reached and took."""
    if not stages:
        return ""
    rows = [(s.name, number(s.cost), f"{s.seconds:.3f}", _details(s.detail)) for s in stages]
    return "\n" + table(("stage", "best cost", "seconds", "details"), rows)


def _details(detail: Mapping[str, Detail]) -> str:
    """Return the plain figures of a stage; the nested ones are for JSON."""
    plain = {name: value for name, value in detail.items() if isinstance(value, str | int | float)}
    return ", ".join(f"{name} {number(value)}" for name, value in plain.items())


def number(value: str | float | None) -> str:
    """Return a figure with up to ten digits, a dash for none."""
    if value is None:
        return "-"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _rest(count: int, what: str) -> str:
    """Return a note on what has been left out, if anything."""
    return f"and {count - SHOWN} more {what}; --json has them all\n" if count > SHOWN else ""
