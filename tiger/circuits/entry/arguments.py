"""The arguments of `tiger.layout`, and of the client of a service that answers the same."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tiger.circuits.params import ThreadedOptions
from tiger.errors import InputError
from tiger.model.spelling import spelled
from tiger.run.options import WatchOptions

if TYPE_CHECKING:
    from qiskit.circuit import QuantumCircuit

Layout = Sequence[int] | Mapping[int, int] | Mapping[str, int]


def parse_qubits(text: str) -> list[int]:
    """Return the device qubits of `--initial-layout`."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise InputError("initial_layout", f"expected Q,Q,.., the numbers of device qubits, got {text!r}")
    return [int(part) for part in parts]


@dataclass(frozen=True, eq=False)
class LayoutArguments(ThreadedOptions):
    """Hold a circuit, a device, and options; `coupling` is anything that says which qubits are coupled."""

    circuit: "QuantumCircuit | Path | str | bytes" = field(
        metadata=spelled("A file of OpenQASM 2, OpenQASM 3 or QPY.", metavar="CIRCUIT", parse=Path, argument=True)
    )
    coupling: object = field(
        metadata=spelled(
            "Like heavy-hex:7; or a file: lines of two qubits, or JSON of pairs, a graph or a Target.",
            panel="Hardware",
            metavar="FILE|SPEC",
            complete="topologies",
        )
    )
    initial_layout: Layout | None = field(
        default=None,
        kw_only=True,
        metadata=spelled("The device qubit of every circuit qubit, in order.", metavar="Q,Q,..", parse=parse_qubits),
    )
    executor: Executor | str | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False)
class LayoutCall(WatchOptions, LayoutArguments):
    """Hold what `tiger.layout` is called with."""


@dataclass(frozen=True, eq=False)
class LayoutListCall(WatchOptions, ThreadedOptions):
    """Hold what `tiger.layout` is called with for a list of circuits, with a layout of each where any is given."""

    circuit: "Sequence[QuantumCircuit | Path | str | bytes]"
    coupling: object
    initial_layout: Sequence[Layout | None] | None = field(default=None, kw_only=True)
    executor: Executor | str | None = field(default=None, kw_only=True)
