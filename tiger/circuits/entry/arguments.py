"""The arguments of `tiger.layout`, and of the client of a service that answers the same."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tiger.circuits.params import ThreadedOptions
from tiger.run.options import WatchOptions

if TYPE_CHECKING:
    from qiskit.circuit import QuantumCircuit

Layout = Sequence[int] | Mapping[int, int] | Mapping[str, int]


@dataclass(frozen=True, eq=False)
class LayoutArguments(ThreadedOptions):
    """Hold a circuit, a device, and options; `coupling` is anything that says which qubits are coupled."""

    circuit: "QuantumCircuit | Path | str | bytes"
    coupling: object
    initial_layout: Layout | None = field(default=None, kw_only=True)
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
