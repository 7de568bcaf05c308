"""The command `tiger experts`, and the mode experts of `tiger place`, which is the same with fewer options."""

from typing import Annotated, Literal

import typer

import tiger as local
from tiger.cli import console, options
from tiger.cli.console import OK
from tiger.client.service import open_client
from tiger.errors import InputError
from tiger.formats import outfile

MODE = "experts"
# The options of the command that this mode alone has, and those that it has, too.
OWN = {"experts", "held_out"}
SHARED = {
    *("model", "cluster", "node_topology", "bandwidths", "labels", "mode"),
    *("seed", "effort", "time_limit", "plot", "server", "json_file"),
}

Source = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="The expert of each token in each layer, [tokens, layers] in a .npy, .csv or .txt file; with --kind loads "
        "the tokens of each expert, [layers, experts] in a .npy, .csv or .json file.",
        show_default=False,
    ),
]
Kind = Annotated[Literal["trace", "loads"], typer.Option(help="What the input is.")]
Experts = Annotated[int | None, typer.Option(metavar="E", help="Experts of a layer; loads state them themselves.")]
HeldOut = Annotated[float, typer.Option(metavar="X", help="Share of the tokens that only test a placement.")]
Replicas = Annotated[int, typer.Option(metavar="R", help="Slots of a layer beyond one an expert, on all devices.")]
Duplicates = Annotated[int, typer.Option(metavar="N", help="Most replicas of an expert on one device.")]
Groups = Annotated[
    int | None, typer.Option(metavar="N", help="Groups of experts in order, each of which stays on one machine.")
]
InUse = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The map in use, as EPLB (.npz), vLLM, SGLang, vllm-ascend (.json) or ExFlow (.csv) has it.",
    ),
]
TokenTime = Annotated[
    float | None, typer.Option("--token-s", metavar="S", help="Seconds that an expert takes for a token.")
]
TokenBytes = Annotated[float | None, typer.Option(metavar="B", help="Bytes of a token that goes to another device.")]
StepTokens = Annotated[float | None, typer.Option(metavar="N", help="Tokens of a step, by default those of the trace.")]
ExpertBytes = Annotated[float | None, typer.Option(metavar="B", help="Bytes of an expert that moves.")]
Steps = Annotated[int, typer.Option(metavar="N", help="Steps that loads are expected to stay as they are.")]
MostMoves = Annotated[int | None, typer.Option(metavar="N", help="Most experts that move.")]
Threshold = Annotated[
    float, typer.Option(metavar="SHARE", help="The least part of a step that a change of the map has to save.")
]
Emit = Annotated[
    Literal["eplb", "vllm", "sglang", "vllm-ascend", "exflow"] | None,
    typer.Option(help="The system whose file of the map --output writes."),
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the map to use, as --emit says.")
]


def experts(
    source: Source,
    cluster: options.Cluster = None,
    node_topology: options.MachineInside = None,
    bandwidths: options.Bandwidths = None,
    labels: options.Labels = None,
    kind: Kind = "trace",
    experts: Experts = None,
    held_out: HeldOut = 0.1,
    replicas: Replicas = 0,
    duplicates: Duplicates = 1,
    groups: Groups = None,
    in_use: InUse = None,
    token_s: TokenTime = None,
    token_bytes: TokenBytes = None,
    step_tokens: StepTokens = None,
    expert_bytes: ExpertBytes = None,
    steps: Steps = 1000,
    most_moves: MostMoves = None,
    threshold: Threshold = 0.02,
    seed: options.Seed = 0,
    effort: Annotated[int, typer.Option(metavar="N", help="Multiplies the iterations of the search.")] = 1,
    time_limit: Annotated[float | None, typer.Option(metavar="S", help="Stop after this many seconds.")] = None,
    emit: Emit = None,
    output: Output = None,
    plot: options.Plot = None,
    server: options.Server = None,
    json_file: options.Json = None,
) -> int:
    """Place the experts of a mixture so that a step costs little: its largest loads, its links, and moves to get there.

    With a map in use, the verdict is to keep it or to move. Exits with 0, or 2 on bad input. The summary goes to
    standard output, progress and complaints to standard error.
    """
    if cluster is None:
        raise InputError("cluster", "expected a cluster, got none")
    insides, rates = options.parse_insides(node_topology or []), options.parse_bandwidths(bandwidths)
    _check_output(emit, output)
    console.check_report(json_file)
    console.check_plot(plot)
    from tiger.cli.expert_summary import expert_summary

    with open_client(server) as client, console.progress() as show:
        report = (client.experts if client else local.experts)(
            source,
            cluster,
            in_use,
            node_topology=insides,
            bandwidths=rates,
            labels=options.parse_labels(labels),
            kind=kind,
            experts=experts,
            held_out=held_out,
            replicas=replicas,
            duplicates=duplicates,
            groups=groups,
            token_s=token_s,
            token_bytes=token_bytes,
            step_tokens=step_tokens,
            expert_bytes=expert_bytes,
            steps=steps,
            most_moves=most_moves,
            threshold=threshold,
            seed=seed,
            effort=effort,
            time_limit_s=time_limit,
            progress=show,
        )
    if emit is not None and output is not None:
        outfile.write(output, "output", report.emit(emit))
    console.write_plot(report, plot)
    console.deliver(report, json_file, expert_summary)
    return OK


def place_experts(context: typer.Context) -> int:
    """Place experts by the options of `tiger place`; raise InputError for those of other modes."""
    given = context.params
    for name in sorted(given.keys() - OWN - SHARED):
        if _is_given(context, name):
            raise InputError(name, "expected the mode chain or dag beside it, got the mode experts")
    if given["experts"] is None:
        raise InputError("experts", "expected the number of experts of a layer beside the mode experts, got none")
    return experts(
        given["model"],
        given["cluster"],
        given["node_topology"],
        given["bandwidths"],
        given["labels"],
        experts=given["experts"],
        held_out=given["held_out"],
        seed=given["seed"],
        effort=given["effort"],
        time_limit=given["time_limit"],
        plot=given["plot"],
        server=given["server"],
        json_file=given["json_file"],
    )


def check_no_experts(context: typer.Context) -> None:
    """Raise InputError for an option that the mode experts alone has, in another mode."""
    for name in sorted(OWN):
        if _is_given(context, name):
            raise InputError(name, f"expected the mode experts beside it, got the mode {context.params['mode']}")


def _check_output(emit: str | None, output: str | None) -> None:
    """Raise InputError unless a map is written to a file that can be, or not at all."""
    if (emit is None) != (output is None):
        name, other = ("output", "emit") if emit is None else ("emit", "output")
        raise InputError(name, f"expected --{other} beside it, got none")
    if output is not None:
        outfile.check(output, "output")


def _is_given(context: typer.Context, name: str) -> bool:
    """Return whether an option is stated, on the command line or in the environment."""
    source = context.get_parameter_source(name)
    return source is not None and source.name not in {"DEFAULT", "DEFAULT_MAP"}
