"""The use of mapping tasks: what it takes, how it is answered, and what is said of its reports."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tiger.launchers.formats import EmitOptions, describe_use
from tiger.mapping.options import AssignCall, hardware
from tiger.model.spelling import Spelling
from tiger.run.use import Command, Delivery, Kernels, Late, Remote, Use, check_printed

if TYPE_CHECKING:
    from tiger.run.report import Report


@dataclass(frozen=True, kw_only=True)
class OrderForLauncher(EmitOptions, Delivery["Report"]):
    """Print the order of ranks as a launcher takes it, and say what does."""

    def check(self, asked: Mapping[str, object], json_file: str | None) -> None:  # noqa: ARG002 (of any command)
        """Raise InputError where the report would be printed as well."""
        check_printed(self.emit, json_file)

    def replace_summary(self, report: "Report") -> str | None:
        """Return the order, nothing where none is feasible."""
        if self.emit is None:
            return None
        return report.emit(self.emit) if report.feasible else ""

    def advise(self, report: "Report") -> str:
        """Return what takes the order."""
        if self.emit is None or not report.feasible:
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

    Exits with 0 when solved, 1 when nothing feasible exists, 2 on bad input. The summary with the verdict goes to
    standard output, but with --emit to standard error, and so does the command that takes what is emitted.
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
