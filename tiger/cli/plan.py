"""The command `tiger plan`."""

from typing import Annotated, Literal

import typer

import tiger as local
from tiger.cli import console, options
from tiger.cli.completion import complete_topologies
from tiger.cli.console import INFEASIBLE, OK
from tiger.client.service import open_client
from tiger.errors import InputError

Cluster = Annotated[
    str,
    typer.Option(
        metavar="SPEC|FILE",
        help="Like dgx:2; or a file: JSON of devices and links, what `nvidia-smi topo -m` prints, or a network of "
        "hosts.",
        show_default=False,
        autocompletion=complete_topologies,
    ),
]
Batch = Annotated[
    int | None,
    typer.Option(metavar="N", help="Sequences (of a transformer SPEC), else microbatches; by default 4 a device."),
]
Microbatch = Annotated[
    int | None, typer.Option("--microbatch-size", metavar="B", help="Sequences in a microbatch; open by default.")
]
Tensor = Annotated[
    int | None, typer.Option("--tensor-parallel", metavar="T", help="Devices a layer is cut among; open by default.")
]
Replicas = Annotated[
    int | None, typer.Option("--data-parallel", metavar="D", help="Replicas of the pipeline; open by default.")
]
Depth = Annotated[
    int | None, typer.Option("--pipeline-parallel", metavar="P", help="Devices in a row; open by default.")
]
Schedule = Annotated[
    Literal["gpipe", "1f1b", "interleaved", "zero-bubble"] | None, typer.Option(help="The schedule; open by default.")
]
Virtual = Annotated[int | None, typer.Option(metavar="V", help="Stages a device where the schedule interleaves them.")]
Top = Annotated[int, typer.Option(metavar="N", help="How many of the best plans are reported.")]


def plan(
    model: options.Model,
    cluster: Cluster,
    node_topology: options.MachineInside = None,
    bandwidths: options.Bandwidths = None,
    labels: options.Labels = None,
    batch: Batch = None,
    pipeline: Depth = None,
    tensor: Tensor = None,
    data: Replicas = None,
    schedule: Schedule = None,
    virtual: Virtual = None,
    microbatch: Microbatch = None,
    top: Top = 10,
    solver: options.DeviceSolver = "auto",
    seed: options.Seed = 0,
    effort: Annotated[int, typer.Option(metavar="N", help="Multiplies the iterations of the search.")] = 1,
    islands: options.Islands = 1,
    time_limit: Annotated[float | None, typer.Option(metavar="S", help="Stop after this many seconds.")] = None,
    threads: options.Threads = 1,
    emit: options.Emit = None,
    plot: options.Plot = None,
    server: options.Server = None,
    json_file: options.Json = None,
) -> int:
    """Find the degrees of parallelism, the microbatches and the schedule that train a network quickest.

    Plans keep to memory and are ranked by their simulated iteration. Exits with 0 when that is done, 1 when no plan
    fits, 2 on bad input. The summary goes to standard output, but to standard error where the plan is emitted.
    """
    insides, rates = options.parse_insides(node_topology or []), options.parse_bandwidths(bandwidths)
    console.check_report(json_file)
    if emit is not None and json_file == "-":
        raise InputError("emit", "expected a file for --json beside it, as both would go to standard output")
    console.check_plot(plot)
    from tiger.cli.plan_summary import plan_summary

    with open_client(server, threads) as client, console.progress() as show, console.pool(threads) as executor:
        report = (client.plan if client else local.plan)(
            model,
            cluster,
            node_topology=insides,
            bandwidths=rates,
            labels=options.parse_labels(labels),
            batch=batch,
            pipeline=pipeline,
            tensor=tensor,
            data=data,
            schedule=schedule,
            virtual=virtual,
            microbatch=microbatch,
            top=top,
            solver=solver,
            seed=seed,
            effort=effort,
            islands=islands,
            time_limit_s=time_limit,
            executor=executor,
            progress=show,
        )
    console.write_plot(report, plot)
    console.deliver_plan(report, emit, json_file, plan_summary)
    return OK if report.feasible else INFEASIBLE
