"""The use of mapping tasks: what it takes, how it is answered, and what is said of its reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tiger.launchers.check import FIELD, describe_check, list_differences, read_places
from tiger.launchers.formats import EmitOptions, describe_use
from tiger.mapping.options import AssignCall, hardware
from tiger.model.spelling import Spelling, spelled
from tiger.run.use import Command, Delivery, Kernels, Late, Remote, Use, check_printed

if TYPE_CHECKING:
    from tiger.run.report import Report


@dataclass(frozen=True, kw_only=True)
class OrderForLauncher(EmitOptions, Delivery["Report"]):
    """Print the order of ranks as a launcher takes it, and say what does; or check what a job has printed by it."""

    ran: str | None = field(
        default=None,
        metadata=spelled(
            "Say whether a job got the order, by the lines `RANK HOST [CORES]` that it printed, in place of all else.",
            panel="Output",
            name=FIELD,
            metavar="FILE",
        ),
    )

    def check(self, asked: Mapping[str, object], json_file: str | None) -> None:  # noqa: ARG002 (of any command)
        """Raise InputError where the report would be printed as well, and for a file that says something else."""
        check_printed(self.emit, json_file)
        check_printed(self.ran, json_file, FIELD)
        if self.ran is not None:
            read_places(Path(self.ran))

    def replace_summary(self, report: "Report") -> str | None:
        """Return the order or what has become of it, nothing where none is feasible."""
        if not report.feasible:
            return None if self.emit is None and self.ran is None else ""
        if self.ran is not None:
            return describe_check(report.rank_order, read_places(Path(self.ran)))
        return None if self.emit is None else report.emit(self.emit)

    def accept(self, report: "Report") -> bool:
        """Return whether a job got the order, if one is checked."""
        return self.ran is None or not list_differences(report.rank_order, read_places(Path(self.ran)))

    def advise(self, report: "Report") -> str:
        """Return what takes the order, and what it costs that the launcher needs it as it is."""
        if self.emit is None or not report.feasible or self.ran is not None:
            return ""
        from tiger.mapping.summary import describe_contiguity  # so that help does not wait for it

        return f"\n{describe_use(self.emit, report.rank_order)}{describe_contiguity(report)}"


ASSIGN = Command(
    name="assign",
    call=AssignCall,
    help="""Map tasks onto a topology.

    Exits with 0 when solved, 1 when nothing feasible exists, 2 on bad input. The result goes to standard output,
    progress and complaints to standard error.
    """,
    examples=(
        "tiger assign halo:8x8 --topology torus:4x4x4",
        "tiger assign examples/ranks4.csv --topology tree:2x2@1,10 --json report.json",
        "tiger assign examples/butko11.ram --solver neal --seed 1 \\\n  --topology examples/mesh_2x2_het.arc",
    ),
    omits=frozenset({"emit"}),
)
RANKS = replace(
    ASSIGN,
    name="ranks",
    help="""Order the ranks of a job on the hosts of a cluster, and write the order for a launcher.

    Exits with 0 when solved, 1 when nothing feasible exists or a job that is checked did not get the order, 2 on bad
    input. The summary with the verdict goes to standard output, but with --emit and --check to standard error, and so
    does the command that takes what is emitted.
    """,
    examples=(
        "tiger ranks halo:8x8 --cluster tree:4x4x4@1,10,100 --emit permutation",
        "tiger ranks halo:8x8 --cluster examples/topology.conf --slots 4 --emit slurm",
    ),
    omits=frozenset({"ising"}),
    spellings={
        "topology": hardware(
            "The hosts: like tree:4x8@1,10, see `tiger topologies`; or a file of Slurm, lstopo, nvidia-smi ..",
            name="cluster",
            metavar="SPEC|FILE",
            complete="topologies",
            required=True,
        ),
        "slots": Spelling("Ranks per node of the cluster.", metavar="N"),
    },
    delivery=OrderForLauncher,
    hardware="cluster",
)
MAPPING = Use(
    answer=Late("tiger", "assign"),
    report=Late("tiger", "Report"),
    schema="tiger.report/1",
    summary=Late("tiger.mapping.summary", "summary"),
    explanation=Late("tiger.mapping.explanation", "explain_mapping"),
    pictures=Late("tiger.mapping.drawing.pictures", "list_pictures"),
    remote=Remote(path="assign", state=Late("tiger.mapping.remote", "state_assignment")),
    kernels=Kernels(command="assign", stages=Late("tiger.mapping.warm", "STAGES")),
    commands=(ASSIGN, RANKS),
)
