"""Reports as a person reads them on a terminal."""

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from tiger.cli.console import columns, escape
from tiger.model.rounding import compute_gap
from tiger.model.units import MILLISECOND, bytes_text, milliseconds_text
from tiger.model.units import number_text as number
from tiger.model.violation import Violation, unmet_text
from tiger.placement.entry.rank_text import short_ranks
from tiger.run.stage import Detail, Stage

if TYPE_CHECKING:
    from tiger.circuits.entry.report import CircuitReport
    from tiger.exchange.export import EncodedModel
    from tiger.placement.entry.report import PlacementReport
    from tiger.placement.entry.stage import PlacedStage
    from tiger.run.report import Objective, Report

# Rows of a table on a terminal, beyond which --json is easier to read, and characters of a line where there is none.
SHOWN, WIDTH = 40, 100
# Blanks between the columns of a table, what is left of a column of words where a terminal is narrow, and the length of
# names that are never cut, such as SPECs, which people copy.
GUTTER, NARROW, NAME = 2, 10, 24
# Links of a table: the bottleneck and what is next to it.
LINKS = 5


def summary(report: "Report") -> str:
    """Return the outcome, what each stage contributed, warnings and the mapping, of which at most 40 tasks."""
    start = f"{report.headline}\n\n" if report.feasible else describe_unmet(report.violations)
    multicast = report.objective is not None and report.objective.name == "multicast"
    stages = _list_by_multicast(report.stages) if multicast else list_stages(report.stages)
    parts = [start, _facts(report), _links(report), stages]
    parts.append(warnings(report.warnings))
    if report.feasible:
        shown = list(report.mapping.items())[:SHOWN]
        rows = [(escape(task), escape(node)) for task, node in shown]
        parts += ["\n", table(("task", "node"), rows), _rest(len(report.mapping), "tasks")]
    return "".join(parts)


def circuit_summary(report: "CircuitReport") -> str:
    """Return what routing added, what each way to place gates comes to, stages, warnings and at most 40 qubits."""
    if report.extra_cx is None or report.data_movement is None:
        return describe_unmet(report.violations, "layout") + warnings(report.warnings)
    parts = [f"{report.headline}\n\n", _circuit_facts(report), "\n", _placements(report)]
    parts.append(list_stages(report.stages, "best extra CX"))
    parts.append(warnings(report.warnings))
    places = [(str(q), str(p), str(report.final_layout[q])) for q, p in list(report.initial_layout.items())[:SHOWN]]
    rest = _rest(len(report.initial_layout), "qubits")
    return "".join([*parts, "\n", table(("qubit", "starts on", "ends on"), places), rest])


def placement_summary(report: "PlacementReport") -> str:
    """Return how fast a placement is beside the uniform split, its figures, warnings and at most 40 stages."""
    if not report.stages:
        return describe_unmet(report.violations, "placement") + warnings(report.warnings)
    unmet = "" if report.feasible else describe_unmet(report.violations, "placement")
    parts = [f"{unmet}{report.headline}\n\n", _placement_facts(report)]
    parts.append(warnings(report.warnings))
    placed = _tabulate_operators(report) if report.mode == "dag" else _tabulate_stages(report)
    parts += ["\n", placed, _rest(len(report.stages), "stages")]
    return "".join([*parts, list_stages(report.progress, "best seconds")])


def describe_unmet(violations: Sequence[Violation], wanted: str = "mapping") -> str:
    """Return one sentence on what has no solution, or none that was found, then what cannot be met."""
    lines = [f"  {violation.kind}: {violation.message}\n" for violation in violations]
    return "".join([f"{unmet_text(violations, wanted)}\n", *lines[:SHOWN], _rest(len(lines), "violations"), "\n"])


def warnings(texts: Sequence[str]) -> str:
    """Return a line for each warning."""
    return "".join(f"warning: {escape(warning)}\n" for warning in texts)


def model_summary(model: "EncodedModel", target: str) -> str:
    """Return what a model that was written holds, and how to read its variables."""
    slack = sum(task is None for task, _ in model.variables)
    size = len(model.variables)
    facts = {
        "variables": f"{size}, of which {slack} slack bits" if slack else str(size),
        "couplers": str(model.couplers),
        "offset": number(model.offset),
        "fingerprint": model.fingerprint,
    }
    if model.penalty is None:
        facts["constraints"] = str(model.constraints)
    else:
        facts["penalty"] = f"{number(model.penalty)}, {number(model.scale)} times the safe bound"
    pairs = enumerate(model.variables[:2])
    order = [*(f"{k} is task {escape(str(task))} on node {escape(node)}" for k, (task, node) in pairs), ".."]
    return (
        f"wrote {escape(target)}\n\n{list_facts(facts)}\n"
        "a variable is 1 where its task is on its node, and they go by task, then node:\n"
        f"{'; '.join([*order, 'slack bits last'] if slack else order)}\n"
        "--variables FILE lists them all and lets `tiger decode`, which reads samples of them, check the problem\n"
    )


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


def _facts(report: "Report") -> str:
    """Return the figures of the outcome, one a line."""
    facts = {
        "cost": number(report.cost),
        "  of compute": number(report.compute_cost),
        "  of communication": number(report.communication_cost),
        "block order": number(report.baselines.block),
        "cyclic order": number(report.baselines.cyclic),
        "random order": number(report.baselines.random),
        "lower bound": number(report.lower_bound),
        "gap": _gap(report),
        "optimal": _proof(report),
        "verdict": report.verdict.advice if report.verdict else "-",
        "feasible": "yes" if report.feasible else "no",
        "rule": report.rule,
        "solver": _origin(report.solver, report.seed, report.islands),
        "seconds": f"{report.seconds:.3f}",
        **{name.replace("_", " "): number(value) for name, value in sorted(report.metrics.items(), key=_is_link_load)},
    }
    if report.baseline_max_link_load is not None:
        facts["  in block order"] = number(report.baseline_max_link_load)
    if report.objective and report.objective.name == "multicast":
        return list_facts(_lead_with_multicasts(facts, report.objective))
    if report.objective:
        facts["objective"] = f"{report.objective.name} {number(report.objective.value)}"
        facts["  block order"] = number(report.objective.baseline)
        facts["  cyclic order"] = number(report.objective.cyclic)
        facts["  lower bound"] = _bound(report.objective.bound, report.objective.value)
    return list_facts(facts)


def _lead_with_multicasts(facts: dict[str, str], made: "Objective") -> dict[str, str]:
    """Return the figures with those of multicasts first, and of the graph that stands for them its cost alone."""
    pairs = ("cost", "  of compute", "  of communication", "random order", "lower bound", "gap")
    gap = compute_gap(made.value, made.bound)
    own = {
        "multicast": number(made.value),
        "block order": number(made.baseline),
        "cyclic order": number(made.cyclic),
        "lower bound": _bound(made.bound, made.value),
        "gap": "no useful bound" if gap is None else f"{gap:.2%}",
    }
    others = {name: value for name, value in facts.items() if name not in own and name not in pairs}
    return own | others | {"cost of pairs": facts["cost"]}


def _links(report: "Report") -> str:
    """Return the loads of the busiest links, of which at most five, and those in the block order."""
    rows = [
        (f"{escape(link.a)} - {escape(link.b)}", number(link.load), f"{link.share:.0%}", number(link.before))
        for link in report.links[:LINKS]
    ]
    return "\n" + table(("busiest links", "load", "of largest", "in block order"), rows) if rows else ""


def _is_link_load(metric: tuple[str, float]) -> bool:
    """Return whether a metric is the largest load of a link, which comes last, beside that of the block order."""
    return metric[0] == "max_link_load"


def _bound(bound: float | None, value: float) -> str:
    """Return a lower bound on a value, and that it says nothing where that is so."""
    return f"{number(bound)}, no useful bound" if bound is not None and bound <= 0 < value else number(bound)


def _origin(solver: str, seed: int, islands: int) -> str:
    """Return the solver with its seed, and its islands where these are several."""
    return f"{solver}, seed {seed}" + (f", {islands} islands" if islands > 1 else "")


def _gap(report: "Report | CircuitReport") -> str:
    """Return how much of the cost the lower bound leaves open."""
    if report.gap is not None:
        return f"{report.gap:.2%}"
    return "-" if report.lower_bound is None else "no useful bound"


def _proof(report: "Report | CircuitReport") -> str:
    """Return whether nothing better is possible."""
    return "yes" if report.optimal else "not proved"


def _placements(report: "CircuitReport") -> str:
    """Return what each way to place the gates comes to."""
    moved = {} if report.data_movement is None else asdict(report.data_movement)
    added = report.placement_extra_cx or {}
    rows = [(name.replace("_", " "), number(value), number(added.get(name))) for name, value in moved.items()]
    return table(("placement of the gates", "data movement", "extra CX"), rows)


def _circuit_facts(report: "CircuitReport") -> str:
    """Return the figures of a routed circuit, one a line."""
    facts = {
        "extra CX": number(report.extra_cx),
        "  SWAPs": number(report.swaps),
        "  BRIDGEs": number(report.bridges),
        "  Qiskit's extra CX": number(report.baseline_extra_cx),
        "  lower bound": number(report.lower_bound),
        "  gap": _gap(report),
        "  optimal": "-" if report.extra_cx is None or report.objective != "cx" else _proof(report),
        "depth": number(report.depth),
        "  Qiskit's depth": number(report.baseline_depth),
        "success": number(report.success_probability),
        "  Qiskit's success": number(report.baseline_success_probability),
        "objective": report.objective,
        "level": str(report.level),
        "solver": _origin(report.solver, report.seed, report.islands),
        "seconds": f"{report.seconds:.3f}",
    }
    return list_facts({name: fact for name, fact in facts.items() if fact != "-"})


def _placement_facts(report: "PlacementReport") -> str:
    """Return the figures of a placement, one a line."""
    facts = {
        "bottleneck": milliseconds_text(report.bottleneck_s),
        "  of uniform split": milliseconds_text(report.uniform_bottleneck_s),
        "  lower bound": milliseconds_text(report.lower_bound_s),
        "iteration": milliseconds_text(report.iteration_s),
        "  of uniform split ": milliseconds_text(report.uniform_iteration_s),
        "  lower bound ": milliseconds_text(report.iteration_bound_s),
        "latency": milliseconds_text(report.latency_s),
        "  lower bound  ": milliseconds_text(report.latency_bound_s),
        "bubble": "-" if report.bubble is None else f"{report.bubble:.2%}",
        "optimal": "yes" if report.optimal else "not proved",
        "objective": report.objective or "-",
        "operators": f"{_operators(report)} on {len(report.stages)} devices" if report.mode == "dag" else "-",
        "devices a stage": _ranks(report.stages[0]),
        "schedule": "-" if report.schedule is None else f"{report.schedule}, {report.microbatches} microbatches",
        "virtual stages": str(report.virtual) if report.virtual > 1 else "-",
        "solver": f"{report.solver}, seed {report.seed}",
        "seconds": f"{report.seconds:.3f}",
    }
    return list_facts({name: fact for name, fact in facts.items() if fact != "-"})


def _tabulate_stages(report: "PlacementReport") -> str:
    """Return what every stage holds and takes, of which at most 40."""
    rows, begin = [], 0
    for k, stage in enumerate(report.stages):
        end = begin + len(stage.ops)
        if k < SHOWN:
            layers = f"{begin}..{end - 1} ({len(stage.ops)})" if len(stage.ops) > 1 else f"{begin} (1)"
            spent = (_figure(stage.compute_s), _figure(stage.communication_s))
            rows.append((str(k), escape(short_ranks(stage.devices)), layers, *spent, _memory(stage)))
        begin = end
    return table(("stage", "device", "layers", "compute ms", "communication ms", "memory"), rows)


def _operators(report: "PlacementReport") -> int:
    """Return how many operators have been placed."""
    return sum(len(stage.ops) for stage in report.stages)


def _tabulate_operators(report: "PlacementReport") -> str:
    """Return what every device holds and takes, of which at most 40."""
    rows = []
    for stage in report.stages[:SHOWN]:
        parts = stage.compute_s, stage.communication_s
        figures = map(_figure, (*parts, sum(parts)))
        rows.append((escape(stage.device), f"{len(stage.ops):,}", *figures, _memory(stage)))
    return table(("device", "operators", "compute ms", "communication ms", "load ms", "memory"), rows)


def _ranks(stage: "PlacedStage") -> str:
    """Return how many devices a stage has for what, a dash for a single one."""
    data, tensor = len(stage.devices), len(stage.devices[0])
    return f"{data * tensor}: tensor {tensor} x data {data}" if data * tensor > 1 else "-"


def _memory(stage: "PlacedStage") -> str:
    """Return what a device holds, of how much."""
    held = bytes_text(stage.memory_bytes)
    return held if stage.capacity_bytes is None else f"{held} of {bytes_text(stage.capacity_bytes)}"


def _figure(seconds: float) -> str:
    """Return milliseconds with up to six digits."""
    return f"{seconds / MILLISECOND:.6g}"


def list_facts(facts: Mapping[str, str]) -> str:
    """Return facts, one a line."""
    return "".join(f"{name:<20} {fact}\n" for name, fact in facts.items())


def list_stages(stages: Sequence[Stage], cost: str = "best cost") -> str:
    """Return what each stage reached and took."""
    if not stages:
        return ""
    rows = [(s.name, _best_cost(s.cost), f"{s.seconds:.3f}", _details(s.detail)) for s in stages]
    return "\n" + table(("stage", cost, "seconds", "details"), rows)


def _list_by_multicast(stages: Sequence[Stage]) -> str:
    """Return what each stage reached by the cost of multicasts, a dash where it looked at that of pairs alone."""
    told = []
    for stage in stages:
        detail = dict(stage.detail)
        value = detail.pop("value", None)
        told.append(replace(stage, cost=value if isinstance(value, float) else math.inf, detail=detail))
    return list_stages(told, "best multicast")


def _best_cost(cost: float) -> str:
    """Return the best cost at the end of a stage, a dash where nothing is known yet."""
    return number(cost if math.isfinite(cost) else None)


def _details(detail: Mapping[str, Detail]) -> str:
    """Return the plain figures of a stage; the nested ones are for JSON."""
    plain = {name: value for name, value in detail.items() if isinstance(value, str | int | float)}
    return ", ".join(f"{name} {number(value)}" for name, value in plain.items())


def _rest(count: int, what: str) -> str:
    """Return a note on what has been left out, if anything."""
    return f"and {count - SHOWN} more {what}; --json has them all\n" if count > SHOWN else ""
