"""The report of a circuit's mapping: where its qubits start and end, the routed circuit, and what routing added."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from tiger.circuits.ising.movement import DataMovement
from tiger.circuits.params import CircuitObjective
from tiger.model.document import HIDDEN, LIKE, Document
from tiger.model.violation import Violation
from tiger.run.stage import Stage

if TYPE_CHECKING:
    from qiskit.circuit import QuantumCircuit

SCHEMA: Final = "tiger.circuit/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitReport(Document):
    """Answer where a circuit of n qubits goes on a device.

    The layouts say on which device qubit every circuit qubit, by its number in the circuit, starts and ends. `circuit`
    is the routed circuit on all device qubits and `qasm` the same as OpenQASM 2, or 3 where it takes that (None where
    neither can say it). `extra_cx` is 3 for every SWAP and BRIDGE, and `depth` counts a SWAP as 3 and readout as 0;
    gates in blocks of control flow count once. `baseline_..` is what Qiskit's own layout and routing come to at the
    same level and seed. `data_movement` compares four placements of the gates (`tiger.circuits.ising.movement`), and
    `placement_extra_cx` what routing adds from there: a short search from the trivial layout, which stays, and from the
    layouts of both Ising formulations. `success_probability` needs error rates.
    Where nothing feasible exists all of these are None or empty, and `violations` name what cannot be met. Stages have
    their best extra CX as cost; `seconds` is wall time. JSON has all but the `circuit`, by the schema
    `tiger.circuit/1`.
    """

    schema: Literal["tiger.circuit/1"] = field(default=SCHEMA, init=False, repr=False)
    initial_layout: Mapping[int, int] = field(default_factory=dict)
    final_layout: Mapping[int, int] = field(default_factory=dict)
    circuit: "QuantumCircuit | None" = field(default=None, metadata=HIDDEN)
    qasm: str | None = None
    swaps: int | None = None
    bridges: int | None = None
    extra_cx: int | None = None
    depth: int | None = None
    data_movement: DataMovement | None = None
    baseline_extra_cx: int | None = None
    success_probability: float | None = None
    baseline_depth: int | None = None
    baseline_success_probability: float | None = None
    placement_extra_cx: Mapping[str, int | None] | None = field(default=None, metadata={LIKE: DataMovement | None})
    feasible: bool
    violations: tuple[Violation, ...] = ()
    solver: str
    level: int
    objective: CircuitObjective
    seed: int
    stages: tuple[Stage, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: float
