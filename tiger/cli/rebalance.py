"""The command `tiger rebalance`."""

from typing import Annotated, Literal

import typer

from tiger.cli import console, options
from tiger.cli.completion import complete_topologies
from tiger.cli.console import OK
from tiger.errors import InputError

Cluster = Annotated[
    str,
    typer.Option(
        metavar="SPEC|FILE",
        help="Like dgx:1; or a file: JSON of devices and links, or what `nvidia-smi topo -m` prints.",
        show_default=False,
        autocompletion=complete_topologies,
    ),
]
Times = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Seconds of layers on a device of speed 1: .csv or .json, a row of them an interval."
    ),
]
Workload = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="Simulate them: pruning, freezing, early-exit, sparse-attention, moe or mod, as pruning:sparsity=0.9.",
    ),
]
Schedule = Annotated[Literal["1f1b", "gpipe"], typer.Option(help="The schedule that is simulated.")]
Iterations = Annotated[int, typer.Option(metavar="N", help="Iterations in an interval.")]
Threshold = Annotated[
    float, typer.Option(metavar="SHARE", help="The least share of an interval's time that moves have to save.")
]
Balancer = Annotated[
    Literal["exact", "diffusion"],
    typer.Option(help="By dynamic programming and simulation, or by layers that stages hand to neighbours."),
]


def rebalance(
    model: options.Model,
    cluster: Cluster,
    times: Times = None,
    workload: Workload = None,
    schedule: Schedule = "1f1b",
    microbatches: options.Microbatches = None,
    pipeline: options.Pipeline = None,
    iterations: Iterations = 1000,
    threshold: Threshold = 0.02,
    balancer: Balancer = "exact",
    plot: options.Plot = None,
    json_file: options.Json = None,
) -> int:
    """Follow layers whose times change while a model trains: for each interval, keep the plan or move layers.

    Exits with 0, or 2 on bad input. The summary compares with uniform cuts and with the best cuts that never move, all
    by simulation; it goes to standard output, progress and complaints to standard error.
    """
    if (times is None) == (workload is None):
        raise InputError("times", "expected one of --times and --workload, got " + ("both" if times else "neither"))
    console.check_report(json_file)
    console.check_plot(plot)
    from tiger.cli.rebalance_summary import rebalance_summary
    from tiger.rebalancing.follow import follow_times
    from tiger.rebalancing.params import RebalanceOptions
    from tiger.rebalancing.rebalancer import Rebalancer
    from tiger.rebalancing.times_file import read_times
    from tiger.rebalancing.workloads.spec import trajectory_of

    chosen = RebalanceOptions(
        schedule=schedule,
        microbatches=microbatches,
        pipeline=pipeline,
        iterations=iterations,
        threshold=threshold,
        balancer=balancer,
    )
    rebalancer = Rebalancer(model, cluster, options=chosen)
    layers = rebalancer.line.layers
    seconds = read_times(times or "", layers) if workload is None else list(trajectory_of(workload, layers))
    report = follow_times(rebalancer, seconds)
    console.write_plot(report, plot)
    console.deliver(report, json_file, rebalance_summary)
    return OK
