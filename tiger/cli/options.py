"""Options of commands, and the parsers of their texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from tiger.cli.completion import complete_models, complete_solvers, complete_tasks, complete_topologies
from tiger.errors import InputError, pin_field
from tiger.formats.text import is_number

Tasks = Annotated[
    str,
    typer.Argument(
        metavar="TASKS",
        help="A .json, .graph, .hgr, .mtx, .csv, .graphml, .dat, .ram, .prof, .grf, .xml, .log or .mpiP file; or a "
        "SPEC like halo:16x16, of halo, ring, alltoall, fft, tree-allreduce, cg or parallel.",
        show_default=False,
        autocompletion=complete_tasks,
    ),
]
Topology = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="Like torus:4x4, see `tiger topologies`; or a file of Slurm, lstopo, nvidia-smi ..",
        autocompletion=complete_topologies,
    ),
]
NodeTopology = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SPEC|FILE|HOSTS=FILE",
        help="What is inside all nodes, or, repeated, inside those listed, like gpu[0-3]=node.xml; tasks go to its "
        "units.",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL,..",
        help="Labels of nodes of Kubernetes that make levels, outermost first; the usual ones without it.",
    ),
]
Units = Annotated[
    Literal["core", "gpu", "nic"] | None,
    typer.Option(help="Units of a machine that lstopo describes, as which tasks run; its cores without."),
]
Levels = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=X,..",
        help="How far apart units of different levels are, like socket=4,node=20,rack=60; `node` where none is named.",
    ),
]
Rule = Annotated[Literal["one-to-one", "levels", "capacity"] | None, typer.Option(help="Which tasks may share a node.")]
Slots = Annotated[int | None, typer.Option(metavar="N", help="Tasks per node; more than 1 implies --rule capacity.")]
Imbalance = Annotated[
    float, typer.Option(metavar="X", help="Scale slots by 1 + X, rounded down; implies --rule capacity.")
]
Running = Annotated[
    str | None, typer.Option(metavar="FILE", help="The parts of links that other jobs use, lines like leaf0,rack0,0.5.")
]
Allocation = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAMES",
        help="The nodes that may hold tasks, in the launcher's order: a file, or names separated by blanks or ';', "
        "also as n[0-3,7].",
    ),
]
Pin = Annotated[
    list[str] | None, typer.Option(metavar="TASK=NODE", help="Fix a task to a node; split at the last '='.")
]
Forbid = Annotated[
    list[str] | None, typer.Option(metavar="TASK=NODE", help="Keep a task off a node; split at the last '='.")
]
Islands = Annotated[
    int,
    typer.Option(
        metavar="K",
        min=1,
        max=256,
        help="Searches side by side, each with the effort, which exchange their best; the answer depends on K.",
    ),
]
Threads = Annotated[
    int,
    typer.Option(metavar="N", min=1, max=1024, help="Threads for independent parts; the mapping does not depend on N."),
]
PenaltyScale = Annotated[
    float | None, typer.Option(metavar="X", help="Penalties of the QUBO as a multiple of their safe bound.")
]
CapacityEncoding = Annotated[
    Literal["slack", "slack-free"], typer.Option(help="How the QUBO encodes what a node may hold.")
]
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the report as JSON; - prints that alone.")
]
Server = Annotated[
    str | None,
    typer.Option(metavar="URL", envvar="TIGER_SERVER", help="Have this service do it, with the key TIGER_API_KEY."),
]
Circuit = Annotated[
    Path,
    typer.Argument(metavar="CIRCUIT", help="A file of OpenQASM 2, OpenQASM 3 or QPY.", show_default=False),
]
Coupling = Annotated[
    str,
    typer.Option(
        metavar="FILE|SPEC",
        help="Like heavy-hex:7; or a file: lines of two qubits, or JSON of pairs, a graph or a Target.",
        show_default=False,
        autocompletion=complete_topologies,
    ),
]
Solver = Annotated[str, typer.Option(metavar="NAME", help="One of `tiger solvers`.", autocompletion=complete_solvers)]
LayoutSolver = Annotated[
    str,
    typer.Option(metavar="NAME", help="One of `tiger solvers`, for the proposals.", autocompletion=complete_solvers),
]
DeviceSolver = Annotated[
    str, typer.Option(metavar="NAME", help="One of `tiger solvers`, to order devices.", autocompletion=complete_solvers)
]
Objective = Annotated[
    Literal["cost", "max-link-load", "makespan", "ring", "multicast"], typer.Option(help="What to minimize.")
]
Routing = Annotated[
    Literal["single", "equal", "weighted"],
    typer.Option(help="Count loads of links on one shortest path, split evenly over equal ones, or as is best."),
]
Nodes = Annotated[
    int | None, typer.Option(metavar="N", help="Take so many of the nodes, with all their units, near each other.")
]
Threshold = Annotated[
    float, typer.Option(metavar="X", help="The least gain for which the verdict is to change the order, 0.02 for 2 %.")
]
Effort = Annotated[int | None, typer.Option(metavar="N", help="Iterations, from 1 up; 1 where no time limit is set.")]
BetaRange = Annotated[
    str | None, typer.Option(metavar="HOT,COLD", help="Inverse temperatures of annealing, in 1 / cost.")
]
Routed = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the routed circuit as OpenQASM.")
]
CircuitObjective = Annotated[
    Literal["cx", "depth", "success"], typer.Option(help="What to make good; success needs error rates.")
]
InitialLayout = Annotated[
    str | None, typer.Option(metavar="Q,Q,..", help="The device qubit of every circuit qubit, in order.")
]
ModelFile = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="A .bqm, .coo or .cqm file.", show_default=False)
]
Variables = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write fingerprint, offset, and [task, node] of every variable as JSON."),
]
Encoded = Annotated[
    str | None, typer.Option("--variables", metavar="FILE", help="What encode wrote there, to check that this is it.")
]
Samples = Annotated[
    str,
    typer.Option(metavar="FILE", help="A dimod SampleSet in .json, or lines of 0 and 1.", show_default=False),
]
Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A PipeDream graph .txt, a table of layers .csv or .json, or a SPEC of a transformer; with --mode dag a "
        "table of operators, or the nodes and edges of dnn-partitioning.",
        show_default=False,
        autocompletion=complete_models,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC|FILE",
        help="Like dgx:2; or a file: JSON of devices and links, what `nvidia-smi topo -m` prints, or a network of "
        "hosts. Only a graph of operators that states its devices goes without.",
        show_default=False,
        autocompletion=complete_topologies,
    ),
]
MachineInside = Annotated[
    list[str] | None,
    typer.Option(
        "--node-topology",
        metavar="SPEC|FILE|HOSTS=FILE",
        help="What is inside all hosts of a network, like dgx:1, or, repeated, inside those listed, like "
        "n[0-3]=a.topo.",
    ),
]
Bandwidths = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL=X,..",
        help="What a device sends between hosts, by level of the network, like node=50GB/s,rack=200Gb/s; a level that "
        "is not named carries as much as the one inside it.",
    ),
]
LayerPin = Annotated[
    list[str] | None,
    typer.Option("--pin", metavar="NAME=DEVICE", help="Fix a layer or operator to a device; split at the last '='."),
]
Mode = Annotated[
    str,
    typer.Option(
        metavar="MODE",
        help="What a device holds: chain, a run of layers; dag, operators of a graph; experts, those of a router's "
        "trace, [tokens, layers] in a .npy, .csv or .txt file.",
    ),
]
Experts = Annotated[int | None, typer.Option(metavar="E", help="In the mode experts, the experts of a layer.")]
HeldOut = Annotated[
    float, typer.Option(metavar="X", help="In the mode experts, the share of the tokens that only test a placement.")
]
Contiguous = Annotated[bool, typer.Option("--contiguous", help="Keep operators together: no edge runs backwards.")]
PlaceObjective = Annotated[
    Literal["throughput", "latency", "both"],
    typer.Option(help="What to minimize of operators: the largest load, the makespan of a microbatch, or both."),
]
Schedule = Annotated[
    Literal["gpipe", "1f1b", "interleaved", "zero-bubble"] | None,
    typer.Option(help="Simulate an iteration of this schedule; memory is parameters alone without one."),
]
Microbatches = Annotated[
    int | None,
    typer.Option(metavar="M", help="Microbatches in an iteration, by default 4 for each stage there may be."),
]
Virtual = Annotated[
    int | None, typer.Option(metavar="V", help="Stages a device where the schedule interleaves them, by default 2.")
]
Pipeline = Annotated[
    int | None, typer.Option("--pipeline-parallel", metavar="P", help="Devices in a row, by default as many as pay.")
]
Tensor = Annotated[int, typer.Option("--tensor-parallel", metavar="T", help="Devices among which each layer is cut.")]
Replicas = Annotated[int, typer.Option("--data-parallel", metavar="D", help="Replicas of the pipeline.")]
Plot = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Draw the result as .svg, .png or .pdf; .html is a page with all pictures and the stages."
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="The same seed and effort give the same plan.")]
Emit = Annotated[
    Literal["megatron", "deepspeed", "vllm", "torch"] | None,
    typer.Option(help="Print the plan alone, to be pasted into this system."),
]


def parse_pins(texts: Sequence[str], form: str = "TASK=NODE") -> dict[str, str]:
    """Return {task: node} of `--pin` arguments; `form` names both in the error."""
    wanted = form.rpartition("=")[2].lower()
    places: dict[str, str] = {}
    for text in texts:
        task, node = _parse_pair("pinned", text, form)
        if places.setdefault(task, node) != node:
            raise InputError(pin_field(task), f"expected one {wanted}, got {places[task]!r} and {node!r}")
    return places


def parse_pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of `--forbid` arguments."""
    return [_parse_pair("forbidden", text) for text in texts]


def _parse_pair(field: str, text: str, form: str = "TASK=NODE") -> tuple[str, str]:
    """Return task and node of TASK=NODE, split at the last sign: a task may hold any, the nodes of a SPEC hold none."""
    task, sign, node = text.rpartition("=")
    if not (task and sign and node):
        raise InputError(field, f"expected {form}, got {text!r}")
    return task, node


def parse_insides(texts: Sequence[str]) -> str | dict[str, str] | None:
    """Return the one source of `--node-topology`, {hosts: source} of arguments with hosts, or None without any."""
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    insides: dict[str, str] = {}
    for text in texts:
        hosts, sign, source = text.partition("=")
        if not (hosts and sign and source):
            raise InputError("node_topology", f"expected HOSTS=FILE for each of several, got {text!r}")
        if insides.setdefault(hosts, source) != source:
            raise InputError("node_topology", f"expected different hosts, got {hosts!r} twice")
    return insides or None


def parse_labels(text: str | None) -> list[str] | None:
    """Return the words of `--labels`."""
    return None if text is None else [word.strip() for word in text.split(",")]


def parse_levels(text: str | None) -> dict[str, float] | None:
    """Return the distances of `--levels` by name."""
    if text is None:
        return None
    levels: dict[str, float] = {}
    for part in text.split(","):
        name, sign, number = (word.strip() for word in part.rpartition("="))
        if not (name and sign and is_number(number)):
            raise InputError("levels", f"expected NAME=X,.. with numbers, got {text!r}")
        if name in levels:
            raise InputError("levels", f"expected different names, got {name!r} twice")
        levels[name] = float(number)
    return levels


def parse_bandwidths(text: str | None) -> dict[str, float | str] | None:
    """Return the bandwidths of `--bandwidths` by level, those with a unit as they are."""
    if text is None:
        return None
    bandwidths: dict[str, float | str] = {}
    for part in text.split(","):
        name, sign, amount = (word.strip() for word in part.rpartition("="))
        if not (name and sign and amount):
            raise InputError("bandwidths", f"expected LEVEL=X,.. such as node=50GB/s,rack=200Gb/s, got {text!r}")
        if name in bandwidths:
            raise InputError("bandwidths", f"expected different levels, got {name!r} twice")
        bandwidths[name] = float(amount) if is_number(amount) else amount
    return bandwidths


def parse_betas(text: str | None) -> tuple[float, float] | None:
    """Return the two numbers of `--beta-range`."""
    if text is None:
        return None
    try:
        hot, cold = map(float, text.split(","))
    except ValueError:
        raise InputError("ising/beta_range", f"expected HOT,COLD, two numbers, got {text!r}") from None
    return hot, cold


def parse_qubits(text: str | None) -> list[int] | None:
    """Return the device qubits of `--initial-layout`."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise InputError("initial_layout", f"expected Q,Q,.., the numbers of device qubits, got {text!r}")
    return [int(part) for part in parts]
