"""What the command line says of a placement of experts."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from tiger.model.units import bytes_text, number_text, seconds_text
from tiger.run.summary import describe_unmet, list_facts, list_stages, table, warnings

if TYPE_CHECKING:
    from tiger.expert_maps.report import ExpertReport, RoutingCost

UNITS: dict[str, Callable[[float], str]] = {"s": seconds_text, "hops": number_text, "tokens": number_text}
# How a bound on hops and the steps of a search name what is made small.
NAMES = {"s": "step and moves", "hops": "weighted hops", "tokens": "tokens"}


def expert_summary(report: "ExpertReport") -> str:
    """Return the outcome and the verdict, what a step costs before and after, and how often tokens change device."""
    if not report.feasible:
        return describe_unmet(report.violations, "map of experts") + warnings(report.warnings)
    parts = [f"{report.headline}\n\n", list_facts(_facts(report)), warnings(report.warnings)]
    if report.objective.unit != "hops" or report.verdict is not None:
        parts += ["\n", _costs(report)]
    plans = {"placed": report.placed, "flat": report.flat, "greedy": report.greedy, "order": report.contiguous}
    rows = [_row(name, cost) for name, cost in plans.items() if cost is not None]
    if rows:
        head = ("placement", "change device", "hops", "held out: change device", "hops")
        parts += ["\n", table(head, rows)]
    stages = list_stages(report.progress, NAMES[report.objective.unit])
    return "".join([*parts, stages, "--json has the device of every expert\n"])


def _facts(report: "ExpertReport") -> dict[str, str]:
    """Return what was asked, the bound, and what a change does."""
    replicas = f" and {report.replicas} replicas" if report.replicas else ""
    facts = {
        "experts": f"{report.experts}{replicas} in each of {report.layers} layers, on {len(report.devices)} devices"
    }
    if report.kind == "trace":
        tokens = f"{report.tokens:,}, and {report.held_out_tokens:,} held out"
        facts["tokens"] = tokens if report.top_k == 1 else f"{tokens}, with {report.top_k} experts a layer"
    if report.loads.speed is not None:
        facts["speeds"] = f"{min(report.loads.speed):.3g} to 1 of the fastest device, by which loads are divided"
    facts |= _describe_room(report)
    facts |= _describe_shares(report)
    unit = report.objective.unit
    facts["lower bound"] = UNITS[unit](report.objective.bound.total) + ("" if unit == "s" else f" {unit}")
    facts["optimal"] = "yes" if report.optimal else "not proved"
    verdict = report.verdict
    if verdict is not None:
        facts["gain"] = f"{verdict.gain:.2%} of a step" + _seconds(", ", verdict.gain_s)
        facts["moves"] = f"{verdict.moves} experts" + _seconds(" in ", verdict.move_s)
        facts["paid after"] = (
            f"{verdict.break_even_steps:.3g} steps" if math.isfinite(verdict.break_even_steps) else "-"
        )
    return facts | {"seconds": f"{report.seconds:.3f}"}


def _describe_room(report: "ExpertReport") -> dict[str, str]:
    """Return how many slots devices have where these are unlike, and what is held by the device with least to spare."""
    facts = {}
    if report.slots_of_devices is not None:
        few, most = (pick(map(pick, report.slots_of_devices)) for pick in (min, max))
        facts["slots"] = f"{few} to {most} in a layer of a device"
    limited = [stage for stage in report.stages if stage.capacity_bytes is not None]
    if limited:
        fullest = max(limited, key=lambda stage: (stage.memory_bytes or 0.0) / (stage.capacity_bytes or math.inf))
        held, room = bytes_text(fullest.memory_bytes or 0.0), bytes_text(fullest.capacity_bytes or 0.0)
        facts["fullest device"] = f"{fullest.device}, experts of {held} in {room}"
    return facts


def _describe_shares(report: "ExpertReport") -> dict[str, str]:
    """Return what the largest loads are over the mean by how replicas share tokens, where that is balanced."""
    if report.shares is None:
        return {}
    facts = {}
    for name, loads in (("batches given", report.shares.given), ("batches drawn", report.shares.drawn)):
        mean = loads.mean or 1.0
        parts = (
            f"{loads.solved / mean:.3f} solved",
            f"{loads.fixed / mean:.3f} fixed",
            f"{loads.equal / mean:.3f} equal",
        )
        facts[name] = "largest loads over their mean by shares: " + ", ".join(parts)
    return facts


def _seconds(word: str, seconds: float | None) -> str:
    """Return seconds behind a word, nothing where there are none."""
    return "" if seconds is None else f"{word}{seconds_text(seconds)}"


def _costs(report: "ExpertReport") -> str:
    """Return the table of what a step costs by parts, and of the largest load."""
    made = report.objective
    text = UNITS[made.unit]
    rows = [
        (name, *(text(part) for part in (cost.load, cost.links, cost.moves, cost.total)))
        for name, cost in ((report.usual, made.before), ("to use", made.after), ("lower bound", made.bound))
    ]
    mean = report.loads.mean or 1.0
    before, after = report.loads.largest_before, report.loads.largest_after
    return (
        table((f"map, {made.unit}", "load", "links", "moves", "total"), rows)
        + f"\nlargest loads, over {_mean_name(report)}: {before / mean:.3f} before, {after / mean:.3f} after\n"
    )


def _mean_name(report: "ExpertReport") -> str:
    """Return what the load would be if it could be divided at will."""
    return "their mean" if report.loads.speed is None else "what a division by speed gives"


def _row(name: str, cost: "RoutingCost") -> tuple[str, ...]:
    """Return the figures of a placement, dashes for those of tokens that are not held out."""
    return (
        name,
        _percent(cost.crossing),
        number_text(cost.hops),
        _percent(cost.held_out_crossing),
        number_text(cost.held_out_hops),
    )


def _percent(share: float | None) -> str:
    """Return a share in percent, a dash where there is none."""
    return "-" if share is None else f"{share:.2%}"
