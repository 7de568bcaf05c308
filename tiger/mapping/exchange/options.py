"""The options of problems as models of other software, and of samples of those."""

from dataclasses import dataclass, field

from tiger.mapping.options import Start
from tiger.model.spelling import spelled
from tiger.qubo.params import IsingParams


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """Say where the model of a problem goes, and how it is encoded."""

    output: str = field(
        metadata=spelled(
            "A .bqm, .coo, .ising, .qubo, .cqm or .lp file.", panel="Output", flags=("--output", "-o"), metavar="FILE"
        )
    )
    variables: str | None = field(
        default=None,
        metadata=spelled("Write fingerprint, offset, and [task, node] of every variable as JSON.", metavar="FILE"),
    )
    tune: str | None = field(
        default=None,
        metadata=spelled(
            "Tune the penalties for reads like those of this sampler, such as neal.",
            metavar="SOLVER",
            panel="Search",
            complete="solvers",
        ),
    )
    start: Start | None = field(
        default=None,
        metadata=spelled(
            "Write the initial state that a mapping is to --variables: a report, or a CSV file task,node.",
            metavar="FILE",
        ),
    )
    ising: IsingParams = field(default_factory=IsingParams)


@dataclass(frozen=True, kw_only=True)
class DecodeOptions:
    """Say where samples are, and of which variables."""

    samples: str = field(
        metadata=spelled(
            "A dimod SampleSet in .json, lines of 0 and 1, or a folder of `tiger assign --samples`.", metavar="FILE"
        )
    )
    variables: str | None = field(
        default=None,
        metadata=spelled("What encode wrote there, to check that this is it.", metavar="FILE"),
    )
