"""The mode experts of `tiger place`."""

import typer

import tiger as local
from tiger.cli import console, options
from tiger.cli.console import OK
from tiger.errors import InputError

MODE = "experts"
# The options of the command that this mode alone has, and those that it has, too.
OWN = {"experts", "held_out"}
SHARED = {
    *("model", "cluster", "node_topology", "bandwidths", "labels", "mode"),
    *("seed", "effort", "time_limit", "plot", "json_file"),
}


def place_experts(context: typer.Context) -> int:
    """Place experts by the options of a command, and print the outcome; raise InputError for those of other modes."""
    given = context.params
    for name in sorted(given.keys() - OWN - SHARED):
        if _is_given(context, name):
            raise InputError(name, "expected the mode chain or dag beside it, got the mode experts")
    if given["experts"] is None:
        raise InputError("experts", "expected the number of experts of a layer beside the mode experts, got none")
    if given["cluster"] is None:
        raise InputError("cluster", "expected a cluster, got none")
    insides = options.parse_insides(given["node_topology"] or [])
    rates = options.parse_bandwidths(given["bandwidths"])
    console.check_report(given["json_file"])
    console.check_plot(given["plot"])
    from tiger.cli.expert_summary import expert_summary

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


def check_no_experts(context: typer.Context) -> None:
    """Raise InputError for an option that the mode experts alone has, in another mode."""
    for name in sorted(OWN):
        if _is_given(context, name):
            raise InputError(name, f"expected the mode experts beside it, got the mode {context.params['mode']}")


def _is_given(context: typer.Context, name: str) -> bool:
    """Return whether an option is stated, on the command line or in the environment."""
    source = context.get_parameter_source(name)
    return source is not None and source.name not in {"DEFAULT", "DEFAULT_MAP"}
