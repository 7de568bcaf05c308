"""What the view of a routed circuit holds, for those who do without Qiskit, which `circuit` loads."""

from dataclasses import dataclass, field
from typing import Literal

from tiger.model.document import Document
from tiger.run.drawing.graph import SCHEMA, GraphView


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitView(Document):
    """Show a routed circuit on the vertices of a device, which are its qubits unless there are too many.

    `initial` and `final` are where every circuit qubit starts and ends. Gates are in the order of their layers, at most
    20,000 of `total_gates`; `second` is -1 for those on one qubit. `swaps` counts the SWAPs of `layers_per_bin` layers
    each. Errors are None where they are not known.
    """

    schema: Literal["tiger.view/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Literal["circuit"] = field(default="circuit", init=False, repr=False)
    device: GraphView
    edge_error: tuple[float | None, ...]
    readout_error: tuple[float | None, ...]
    initial: tuple[int, ...]
    final: tuple[int, ...]
    name: tuple[str, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    layer: tuple[int, ...]
    layers: int
    total_gates: int
    swaps: tuple[int, ...]
    layers_per_bin: float
