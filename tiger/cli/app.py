"""The command `tiger`: `assign`, `layout`, `place`, `topologies`, `solvers`, `serve` and `warm` here, others beside it.

What a command needs is imported inside it, so that help and bad options answer at once.
"""

import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import Annotated

import typer

import tiger as local
from tiger import __version__
from tiger.cli import console, options, variables
from tiger.cli.console import INFEASIBLE, OK, THREADS
from tiger.cli.doctor import doctor
from tiger.cli.exchange import decode, encode
from tiger.cli.experts import MODE as EXPERTS
from tiger.cli.experts import check_no_experts, place_experts
from tiger.cli.experts import experts as experts_command
from tiger.cli.explain import explain
from tiger.cli.help import Command, Group
from tiger.cli.openapi import openapi
from tiger.cli.plan import plan
from tiger.cli.ranks import ranks
from tiger.cli.rebalance import rebalance
from tiger.client.service import open_client
from tiger.errors import InputError
from tiger.formats import outfile
from tiger.run.verdict import THRESHOLD

# As sysexits.h has it for an internal error, and shells for an interrupt.
BAD_INPUT, INTERNAL, INTERRUPTED = 2, 70, 130

app = typer.Typer(
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line on the arguments of the process and exit with its status."""
    console.open_streams()
    status = run(sys.argv[1:])
    if status == INTERRUPTED and any(thread.name.startswith(THREADS) for thread in threading.enumerate()):
        # The interpreter would wait for threads that still search.
        os._exit(status)
    sys.exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run one command; return 0 when solved, 1 infeasible, 2 bad input, 70 an internal error, 130 interrupted."""
    try:
        status = typer.main.get_command(app).main(list(arguments), prog_name="tiger", standalone_mode=False)
    except InputError as error:
        console.complain(error.field, error.reason)
        return BAD_INPUT
    except typer.TyperException as error:
        console.complain(console.field_of(error), console.reason_of(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 (the last resort; a panic of compiled code is no Exception)
        console.report_crash(error)
        return INTERNAL
    return status if isinstance(status, int) else OK


@app.callback(invoke_without_command=True)
def tiger(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Map tasks onto hardware, topology-aware, by Ising models and native search."""
    if version:
        console.emit(f"tiger {__version__}\n")
        raise typer.Exit
    for name, near in variables.list_misspelt(os.environ, variables.READ.get(context.invoked_subcommand or "", ())):
        console.warn(f"{name} is not a variable of TIGER; did you mean {near}?")
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(BAD_INPUT)


@app.command(cls=Command)
def assign(
    tasks: options.Tasks,
    topology: options.Topology = None,
    node_topology: options.NodeTopology = None,
    levels: options.Levels = None,
    labels: options.Labels = None,
    units: options.Units = None,
    rule: options.Rule = None,
    slots: options.Slots = None,
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
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed and effort give the same mapping.")] = 0,
    effort: options.Effort = None,
    islands: options.Islands = 1,
    time_limit: Annotated[float | None, typer.Option(metavar="S", help="Stop after this many seconds.")] = None,
    threads: options.Threads = 1,
    penalty_scale: options.PenaltyScale = None,
    beta_range: options.BetaRange = None,
    capacity_encoding: options.CapacityEncoding = "slack",
    plot: options.Plot = None,
    server: options.Server = None,
    json_file: options.Json = None,
) -> int:
    """Map tasks onto a topology.

    Exits with 0 when solved, 1 when nothing feasible exists, 2 on bad input. The result goes to standard output,
    progress and complaints to standard error.
    """
    pins, pairs, betas = (
        options.parse_pins(pin or []),
        options.parse_pairs(forbid or []),
        options.parse_betas(beta_range),
    )
    insides, distances = options.parse_insides(node_topology or []), options.parse_levels(levels)
    console.check_report(json_file)
    console.check_plot(plot)
    from tiger.cli.summary import summary
    from tiger.qubo.ising import IsingParams

    with open_client(server, threads) as client, console.progress() as show, console.pool(threads) as executor:
        report = (client.assign if client else local.assign)(
            tasks,
            topology,
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
            ising=IsingParams(penalty_scale=penalty_scale, beta_range=betas, capacity=capacity_encoding),
            progress=show,
        )
    console.write_plot(report, plot)
    console.deliver(report, json_file, summary)
    return OK if report.feasible else INFEASIBLE


@app.command(cls=Command)
def layout(
    circuit: options.Circuit,
    coupling: options.Coupling,
    output: options.Routed = None,
    level: Annotated[int, typer.Option(metavar="0..3", help="How hard, as Qiskit's optimization levels.")] = 3,
    effort: Annotated[int, typer.Option(metavar="N", help="Multiplies the iterations of the level.")] = 1,
    islands: options.Islands = 1,
    objective: options.CircuitObjective = "cx",
    solver: options.LayoutSolver = "auto",
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed, level and effort give the same circuit.")] = 0,
    time_limit: Annotated[float | None, typer.Option(metavar="S", help="Stop after this many seconds.")] = None,
    threads: options.Threads = 1,
    initial_layout: options.InitialLayout = None,
    plot: options.Plot = None,
    server: options.Server = None,
    json_file: options.Json = None,
) -> int:
    """Lay a quantum circuit out on a device and route it.

    Exits with 0 when that is done, 1 when the device cannot hold the circuit, 2 on bad input. The summary goes to
    standard output, progress and complaints to standard error.
    """
    start = options.parse_qubits(initial_layout)
    console.check_report(json_file)
    console.check_plot(plot)
    if output is not None:
        outfile.check(output, "output")
    from tiger.cli.summary import circuit_summary

    with console.name_hardware("coupling"), open_client(server, threads) as client, console.progress() as show:
        report = (client.layout if client else local.layout)(
            circuit,
            coupling,
            level=level,
            effort=effort,
            islands=islands,
            objective=objective,
            solver=solver,
            seed=seed,
            initial_layout=start,
            time_limit_s=time_limit,
            threads=threads,
            progress=show,
        )
    if output is not None and report.feasible:
        if report.qasm is None:
            raise InputError("output", "expected a circuit that OpenQASM can say, got one that it cannot")
        outfile.write(output, "output", report.qasm.rstrip("\n") + "\n")
    console.write_plot(report, plot)
    console.deliver(report, json_file, circuit_summary)
    return OK if report.feasible else INFEASIBLE


@app.command(cls=Command)
def place(
    context: typer.Context,
    model: options.Model,
    cluster: options.Cluster = None,
    node_topology: options.MachineInside = None,
    bandwidths: options.Bandwidths = None,
    labels: options.Labels = None,
    mode: options.Mode = "chain",
    contiguous: options.Contiguous = False,
    objective: options.PlaceObjective = "throughput",
    experts: options.Experts = None,  # noqa: ARG001 (read with the options of its mode)
    held_out: options.HeldOut = 0.1,  # noqa: ARG001 (as above)
    schedule: options.Schedule = None,
    microbatches: options.Microbatches = None,
    virtual: options.Virtual = None,
    pipeline: options.Pipeline = None,
    tensor: options.Tensor = 1,
    data: options.Replicas = 1,
    pin: options.LayerPin = None,
    solver: options.DeviceSolver = "auto",
    seed: options.Seed = 0,
    effort: Annotated[int, typer.Option(metavar="N", help="Multiplies the iterations of the search.")] = 1,
    time_limit: Annotated[float | None, typer.Option(metavar="S", help="Stop after this many seconds.")] = None,
    emit: options.Emit = None,
    plot: options.Plot = None,
    server: options.Server = None,
    json_file: options.Json = None,
) -> int:
    """Place the layers of a network on a cluster, as the stages of a pipeline, or with --mode its operators or experts.

    Exits with 0 when that is done, 1 when the cluster cannot hold the network, 2 on bad input. The summary goes to
    standard output, but to standard error, as progress and complaints do, where the plan is emitted.
    """
    if mode == EXPERTS:
        return place_experts(context)
    check_no_experts(context)
    pins = options.parse_pins(pin or [], "NAME=DEVICE")
    insides, rates = options.parse_insides(node_topology or []), options.parse_bandwidths(bandwidths)
    console.check_report(json_file)
    if emit is not None and json_file == "-":
        raise InputError("emit", "expected a file for --json beside it, as both would go to standard output")
    if emit is not None and mode != "chain":
        raise InputError("emit", f"expected the mode chain beside it, got the mode {mode}")
    console.check_plot(plot)
    from tiger.cli.summary import placement_summary

    with open_client(server) as client, console.progress() as show:
        report = (client.place if client else local.place)(
            model,
            cluster,
            node_topology=insides,
            bandwidths=rates,
            labels=options.parse_labels(labels),
            mode=mode,
            contiguous=contiguous,
            objective=objective,
            schedule=schedule,
            microbatches=microbatches,
            virtual=virtual,
            pipeline=pipeline,
            tensor=tensor,
            data=data,
            pinned=pins,
            solver=solver,
            seed=seed,
            effort=effort,
            time_limit_s=time_limit,
            progress=show,
        )
    console.write_plot(report, plot)
    console.deliver_plan(report, emit, json_file, placement_summary)
    return OK if report.feasible else INFEASIBLE


for command in (ranks, plan, rebalance, experts_command, encode, decode, explain, openapi):
    app.command(cls=Command)(command)


@app.command(cls=Command)
def topologies() -> None:
    """List the kinds of hardware that a SPEC can name."""
    from tiger.cli.summary import table
    from tiger.topologies.spec import KINDS

    rows = [(kind.syntax, kind.example, kind.description) for kind in KINDS]
    console.emit(table(("syntax", "example", "hardware"), rows))


@app.command(cls=Command)
def solvers() -> None:
    """List the solvers that can be used here."""
    from tiger.cli.summary import table
    from tiger.solvers.registry import list_solvers

    rows = [(solver.name, solver.kind, solver.description) for solver in list_solvers()]
    console.emit(table(("solver", "kind", "what it does"), rows))


@app.command(cls=Command)
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on, 0 for any free one.")] = 8000,
    show_config: Annotated[bool, typer.Option("--show-config", help="Print the settings and stop.")] = False,
) -> None:
    """Run the REST service until interrupted.

    Settings come from the environment, from variables that begin with TIGER_. Without TIGER_API_KEYS it listens on a
    loopback address alone.
    """
    if show_config:
        from tiger.api.settings import load, rows
        from tiger.cli.summary import table

        console.emit(table(("variable", "value", "from"), rows(load())))
        return
    from tiger.api.serve import serve as listen

    listen(host, port)


@app.command(cls=Command)
def warm(
    commands: Annotated[
        list[str] | None,
        typer.Argument(help="assign, layout, place: the commands to be ready for.", show_default="all"),
    ] = None,
) -> None:
    """Compile search kernels into the cache.

    The first solve does not have to wait for them then.
    """
    from tiger.cli.warm import COMMANDS, warm_all

    for command in commands or ():
        if command not in COMMANDS:
            raise InputError("commands", f"expected any of {', '.join(COMMANDS)}, got {command!r}")
    start = time.perf_counter()
    with console.count("compiling") as show:
        warm_all(commands or COMMANDS, show)
    console.emit(f"every kernel is compiled, {time.perf_counter() - start:.1f} s\n")


app.command(cls=Command)(doctor)
