"""The use of laying out a circuit: what it takes, how it is answered, and what is said of its reports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tiger.circuits.entry.arguments import LayoutCall
from tiger.errors import InputError
from tiger.model.spelling import spelled
from tiger.run import outfile
from tiger.run.use import Command, Delivery, Kernels, Late, Remote, Use

if TYPE_CHECKING:
    from tiger.circuits.entry.report import CircuitReport


@dataclass(frozen=True, kw_only=True)
class RoutedFile(Delivery["CircuitReport"]):
    """Write the routed circuit to a file."""

    output: str | None = field(
        default=None,
        metadata=spelled(
            "Write the routed circuit as OpenQASM.", panel="Output", flags=("--output", "-o"), metavar="FILE"
        ),
    )

    def check(self, asked: Mapping[str, object], json_file: str | None) -> None:  # noqa: ARG002 (of any command)
        """Raise InputError for a file that cannot be written."""
        if self.output is not None:
            outfile.check(self.output, "output")

    def write(self, report: "CircuitReport") -> None:
        """Write the circuit; raise InputError for one that OpenQASM cannot say."""
        if self.output is None or not report.feasible:
            return
        if report.qasm is None:
            raise InputError("output", "expected a circuit that OpenQASM can say, got one that it cannot")
        outfile.write(self.output, "output", report.qasm.rstrip("\n") + "\n")


CIRCUITS = Use(
    answer=Late("tiger", "layout"),
    report=Late("tiger", "CircuitReport"),
    schema="tiger.circuit/1",
    summary=Late("tiger.circuits.summary", "circuit_summary"),
    explanation=Late("tiger.circuits.explanation", "explain_circuit"),
    pictures=Late("tiger.circuits.drawing.pictures", "list_pictures"),
    remote=Remote(path="assign", state=Late("tiger.circuits.entry.remote", "state_layout")),
    kernels=Kernels(command="layout", stages=Late("tiger.circuits.warm", "STAGES")),
    commands=(
        Command(
            name="layout",
            call=LayoutCall,
            help="""Lay a quantum circuit out on a device and route it.

            Exits with 0 when that is done, 1 when the device cannot hold the circuit, 2 on bad input. The summary goes
            to standard output, progress and complaints to standard error.
            """,
            examples=(
                "tiger layout examples/circuits/qft5.qasm --coupling heavy-hex:3",
                "tiger layout examples/circuits/qft5.qasm --level 1 \\\n  --coupling examples/circuits/tee9.txt"
                " --json layout.json",
            ),
            delivery=RoutedFile,
            hardware="coupling",
        ),
    ),
)
