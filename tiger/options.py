"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Tasks = Annotated[
    Path,
    typer.Argument(
        metavar="TASKS", help="A .json, .graph, .mtx, .csv, .graphml, .dat or .ram file.", show_default=False
    ),
]
Topology = Annotated[
    str | None,
    typer.Option(metavar="SPEC", help="Like torus:4x4, see `tiger topologies`; or a .json or .arc file."),
]
Rule = Annotated[Literal["one-to-one", "levels", "capacity"] | None, typer.Option(help="Which tasks may share a node.")]
Slots = Annotated[int | None, typer.Option(metavar="N", help="Tasks per node; more than 1 implies --rule capacity.")]
Imbalance = Annotated[
    float, typer.Option(metavar="X", help="Scale slots by 1 + X, rounded down; implies --rule capacity.")
]
Allocation = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|NAMES",
        help="The nodes that may hold tasks, in a file or separated by blanks or ';', also as n[0-3,7].",
    ),
]
Pin = Annotated[
    list[str] | None, typer.Option(metavar="TASK=NODE", help="Fix a task to a node; split at the last '='.")
]
Forbid = Annotated[
    list[str] | None, typer.Option(metavar="TASK=NODE", help="Keep a task off a node; split at the last '='.")
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
