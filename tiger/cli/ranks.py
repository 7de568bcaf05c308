"""The command `tiger ranks`."""

import sys
from typing import Annotated, get_args

import typer

import tiger as local
from tiger.cli import console, options
from tiger.cli.completion import complete_topologies
from tiger.cli.console import INFEASIBLE, OK
from tiger.client.service import open_client
from tiger.errors import InputError
from tiger.launchers.formats import LauncherName, describe_use
from tiger.run.verdict import THRESHOLD

Cluster = Annotated[
    str,
    typer.Option(
        metavar="SPEC|FILE",
        help="The hosts: like tree:4x8@1,10, see `tiger topologies`; or a file of Slurm, lstopo, nvidia-smi ..",
        show_default=False,
        autocompletion=complete_topologies,
    ),
]
Slots = Annotated[int | None, typer.Option(metavar="N", help="Ranks per node of the cluster.")]
Emit = Annotated[
    LauncherName | None,
    typer.Option(
        metavar="LAUNCHER",
        help=f"Print the order alone, as this launcher takes it: {', '.join(get_args(LauncherName))}.",
    ),
]


def ranks(
    traffic: options.Tasks,
    cluster: Cluster,
    node_topology: options.NodeTopology = None,
    levels: options.Levels = None,
    labels: options.Labels = None,
    units: options.Units = None,
    slots: Slots = None,
    emit: Emit = None,
    rule: options.Rule = None,
    imbalance: options.Imbalance = 0.0,
    allocation: options.Allocation = None,
    running: options.Running = None,
    pin: options.Pin = None,
    forbid: options.Forbid = None,
    solver: options.Solver = "auto",
    objective: options.Objective = "cost",
    routing: options.Routing = "single",
    nodes: options.Nodes = None,
    threshold: options.Threshold = THRESHOLD,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed and effort give the same order.")] = 0,
    effort: options.Effort = None,
    islands: options.Islands = 1,
    time_limit: Annotated[float | None, typer.Option(metavar="S", help="Stop after this many seconds.")] = None,
    threads: options.Threads = 1,
    plot: options.Plot = None,
    server: options.Server = None,
    json_file: options.Json = None,
) -> int:
    """Order the ranks of a job on the hosts of a cluster, and write the order for a launcher.

    Exits with 0 when solved, 1 when nothing feasible exists, 2 on bad input. The summary with the verdict goes to
    standard output, but with --emit to standard error, and so does the command that takes what is emitted.
    """
    pins, pairs = options.parse_pins(pin or []), options.parse_pairs(forbid or [])
    insides, distances = options.parse_insides(node_topology or []), options.parse_levels(levels)
    console.check_report(json_file)
    console.check_plot(plot)
    if emit is not None and json_file == "-":
        raise InputError("emit", "expected a file for --json beside it, as both would go to standard output")
    from tiger.cli.summary import summary

    with (
        console.name_hardware("cluster"),
        open_client(server, threads) as client,
        console.progress() as show,
        console.pool(threads) as executor,
    ):
        report = (client.assign if client else local.assign)(
            traffic,
            cluster,
            node_topology=insides,
            levels=distances,
            labels=options.parse_labels(labels),
            units=units,
            rule=rule,
            slots=slots,
            imbalance=imbalance,
            allocation=allocation,
            running=running or (),
            pinned=pins,
            forbidden=pairs,
            solver=solver,
            objective=objective,
            routing=routing,
            nodes=nodes,
            threshold=threshold,
            seed=seed,
            effort=effort,
            islands=islands,
            time_limit_s=time_limit,
            executor=executor,
            emit=emit,
            progress=show,
        )
    console.write_plot(report, plot)
    console.deliver_plan(report, emit, json_file, summary)
    if emit is not None and report.feasible:
        sys.stderr.write(f"\n{describe_use(emit, report.rank_order)}")
    return OK if report.feasible else INFEASIBLE
