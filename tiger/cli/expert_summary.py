"""What the command line says of a placement of experts."""

from typing import TYPE_CHECKING

from tiger.cli.summary import list_facts, list_stages, table, warnings
from tiger.model.units import number_text

if TYPE_CHECKING:
    from tiger.pipeline.experts.report import ExpertReport, RoutingCost


def expert_summary(report: "ExpertReport") -> str:
    """Return how often tokens change device beside the simple placements, the bound, and the steps of the search."""
    tokens = f"{report.tokens:,}, and {report.held_out_tokens:,} held out"
    facts = {
        "experts": f"{report.experts} in each of {report.layers} layers, on {len(report.devices)} devices",
        "tokens": tokens if report.top_k == 1 else f"{tokens}, with {report.top_k} experts a layer",
        "lower bound": f"{number_text(report.lower_bound_hops)} hops",
        "optimal": "yes" if report.optimal else "not proved",
        "seconds": f"{report.seconds:.3f}",
    }
    plans = {"placed": report.placed, "flat": report.flat, "greedy": report.greedy, "order": report.contiguous}
    rows = [_row(name, cost) for name, cost in plans.items() if cost is not None]
    head = ("placement", "change device", "hops", "held out: change device", "hops")
    parts = [f"{report.headline}\n\n", list_facts(facts), warnings(report.warnings), "\n", table(head, rows)]
    return "".join([*parts, list_stages(report.progress, "weighted hops"), "--json has the device of every expert\n"])


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
