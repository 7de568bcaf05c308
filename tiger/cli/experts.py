"""The mode experts of `tiger place`."""

from typing import TYPE_CHECKING

import typer

import tiger as local
from tiger.cli import console, options
from tiger.cli.console import OK
from tiger.cli.summary import list_facts, list_stages, table, warnings
from tiger.errors import InputError
from tiger.model.units import number_text

if TYPE_CHECKING:
    from tiger.pipeline.experts.report import ExpertReport, RoutingCost

MODE = "experts"
# The options of the command that this mode has.
OWN = {"model", "cluster", "node_topology", "bandwidths", "labels", "mode", "experts", "held_out"}
SEARCH = {"seed", "effort", "time_limit", "plot", "json_file"}


def place_experts(context: typer.Context) -> int:
    """Place experts by the options of a command, and print the outcome; raise InputError for those of other modes."""
    given = context.params
    for name in given.keys() - OWN - SEARCH:
        source = context.get_parameter_source(name)
        if source is not None and source.name not in {"DEFAULT", "DEFAULT_MAP"}:
            raise InputError(name, "expected the mode chain or dag beside it, got the mode experts")
    if given["experts"] is None:
        raise InputError("experts", "expected the number of experts of a layer beside the mode experts, got none")
    if given["cluster"] is None:
        raise InputError("cluster", "expected a cluster, got none")
    insides = options.parse_insides(given["node_topology"] or [])
    rates = options.parse_bandwidths(given["bandwidths"])
    console.check_report(given["json_file"])
    console.check_plot(given["plot"])
    with console.progress() as show:
        report = local.experts(
            given["model"],
            given["cluster"],
            node_topology=insides,
            bandwidths=rates,
            labels=options.parse_labels(given["labels"]),
            experts=given["experts"],
            held_out=given["held_out"],
            seed=given["seed"],
            effort=given["effort"],
            time_limit_s=given["time_limit"],
            progress=show,
        )
    console.write_plot(report, given["plot"])
    console.deliver(report, given["json_file"], expert_summary)
    return OK


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
