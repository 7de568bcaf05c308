"""The use of placing experts: what it takes, how it is answered, and what is said of its reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tiger.errors import InputError
from tiger.expert_maps.arguments import ExpertCall
from tiger.model.spelling import spelled
from tiger.run import outfile
from tiger.run.use import Command, Delivery, Kernels, Late, Remote, Use

if TYPE_CHECKING:
    from tiger.expert_maps.report import ExpertReport


@dataclass(frozen=True, kw_only=True)
class MapFile(Delivery["ExpertReport"]):
    """Write the map to use as the file of a system."""

    emit: Literal["eplb", "vllm", "sglang", "vllm-ascend", "exflow"] | None = field(
        default=None,
        metadata=spelled("The system whose file of the map --output writes.", panel="Output"),
    )
    output: str | None = field(
        default=None,
        metadata=spelled(
            "Write the map to use, as --emit says.", panel="Output", flags=("--output", "-o"), metavar="FILE"
        ),
    )

    def check(self, asked: Mapping[str, object], json_file: str | None) -> None:  # noqa: ARG002 (of any command)
        """Raise InputError unless a map is written to a file that can be, or not at all."""
        if (self.emit is None) != (self.output is None):
            name, other = ("output", "emit") if self.emit is None else ("emit", "output")
            raise InputError(name, f"expected --{other} beside it, got none")
        if self.output is not None:
            outfile.check(self.output, "output")

    def write(self, report: "ExpertReport") -> None:
        """Write the map."""
        if self.emit is not None and self.output is not None and report.feasible:
            outfile.write(self.output, "output", report.emit(self.emit))


EXPERTS = Use(
    answer=Late("tiger", "experts"),
    report=Late("tiger", "ExpertReport"),
    schema="tiger.experts/1",
    summary=Late("tiger.expert_maps.summary", "expert_summary"),
    explanation=Late("tiger.expert_maps.explanation", "explain_experts"),
    pictures=Late("tiger.expert_maps.pictures", "list_pictures"),
    remote=Remote(path="experts", state=Late("tiger.expert_maps.remote", "state_experts")),
    kernels=Kernels(command="place", stages=Late("tiger.expert_maps.warm", "STAGES"), ahead=False),
    commands=(
        Command(
            name="experts",
            call=ExpertCall,
            help="""Place the experts of a mixture so that a step costs little: its largest loads, its links, and moves
            to get there.

            Loads count over the speed of devices, and with the bytes of an expert a map fits into their memory. With a
            map in use, the verdict is to keep it or to move. Exits with 0, 1 where memory does not hold the experts, or
            2 on bad input. The summary goes to standard output, progress and complaints to standard error.
            """,
            examples=(
                "tiger experts examples/traces/router8.csv --experts 8 --cluster dgx:1",
                "tiger experts examples/traces/router8.csv --experts 8 --cluster dgx:1 \\\n"
                "  --replicas 8 --token-s 2e-7 --token-bytes 14336 --emit vllm -o map.json",
                "tiger experts examples/traces/router8.csv --experts 8 --cluster dgx:1 \\\n"
                "  --replicas 8 --token-s 2e-7 --token-bytes 14336 \\\n  --in-use map.json --expert-bytes 44e6",
                "tiger experts examples/traces/router8.csv --experts 8 \\\n  --cluster dgx:1x4+l40s:1x4 "
                "--replicas 8 --token-s 2e-7 \\\n  --expert-bytes 350MB --slots-by speed",
            ),
            delivery=MapFile,
        ),
    ),
)
