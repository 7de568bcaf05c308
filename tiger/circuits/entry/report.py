"""The report of a circuit's mapping: where its qubits start and end, the routed circuit, and what routing added."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from tiger.circuits.params import CircuitObjective
from tiger.model.answer import Answer
from tiger.model.document import HIDDEN, LATER, LIKE
from tiger.model.figure import Figure
from tiger.model.rounding import compute_gap
from tiger.model.units import number_text
from tiger.model.violation import Violation, unmet_text
from tiger.routing.ising.movement import DataMovement
from tiger.run.samples import SamplingReport
from tiger.run.stage import Stage

if TYPE_CHECKING:
    from qiskit.circuit import QuantumCircuit

SCHEMA: Final = "tiger.circuit/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitReport(Answer):
    """Answer where a circuit of n qubits goes on a device.

    The layouts say on which device qubit every circuit qubit, by its number in the circuit, starts and ends. `circuit`
    is the routed circuit on all device qubits and `qasm` the same as OpenQASM 2, or 3 where it takes that (None where
    neither can say it); its `layout` is Qiskit's, for `observable.apply_layout(report.circuit.layout)`. Gates on three
    and more qubits are written out on two before anything counts, so that all figures are above the circuit that they
    leave, the bound and Qiskit's figures as well. `extra_cx` is 3 for every SWAP and BRIDGE, and `depth` counts a SWAP
    as 3 and readout as 0; gates in blocks of control flow count once. Every routing of this circuit, in all orders of
    gates that `commute` allows and from the layout if one was given, adds at least `lower_bound` extra CX; `gap` is
    (extra_cx - lower_bound) / extra_cx, 0 when both are 0, None where the bound is 0 and `extra_cx` is not. `optimal`
    says that they meet where extra CX are the objective; it is never said of another objective. `baseline_..` is what
    Qiskit's own layout and routing come to at the same level and seed. `data_movement` compares four placements of the
    gates (`tiger.routing.ising.movement`), and `placement_extra_cx` what routing adds from there: a short search from
    the trivial layout, which stays, and from the layouts of both Ising formulations. `success_probability` needs error
    rates. `sampling` says what a sampler drew, None for other solvers.
    Where nothing feasible exists all of these are None or empty, and `violations` name what cannot be met. Stages have
    their best extra CX as cost; `seconds` is wall time. `device` is what the device was read from, which pictures need.
    JSON has all but the `circuit` and the `device`, by the schema `tiger.circuit/1`.
    """

    schema: Literal["tiger.circuit/1"] = field(default=SCHEMA, init=False, repr=False)
    initial_layout: Mapping[int, int] = field(default_factory=dict)
    final_layout: Mapping[int, int] = field(default_factory=dict)
    circuit: "QuantumCircuit | None" = field(default=None, metadata=HIDDEN)
    qasm: str | None = None
    optimized_qasm: str | None = field(default=None, metadata=LATER)
    swaps: int | None = None
    bridges: int | None = None
    extra_cx: int | None = None
    depth: int | None = None
    data_movement: DataMovement | None = None
    baseline_extra_cx: int | None = None
    lower_bound: int | None = field(default=None, metadata=LATER)
    gap: float | None = field(init=False, metadata=LATER)
    optimal: bool = field(init=False, metadata=LATER)
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
    islands: int = field(default=1, metadata=LATER)
    stages: tuple[Stage, ...] = ()
    warnings: tuple[str, ...] = ()
    sampling: SamplingReport | None = field(default=None, metadata=LATER)
    seconds: float
    device: object = field(default=None, repr=False, compare=False, metadata=HIDDEN)

    def __post_init__(self) -> None:
        """Work out the gap, and whether no routing is better."""
        met = self.extra_cx is not None and self.extra_cx == (self.lower_bound or 0)
        object.__setattr__(self, "gap", compute_gap(self.extra_cx, self.lower_bound))
        object.__setattr__(self, "optimal", met and self.objective == "cx")

    @property
    def headline(self) -> str:
        """Return one sentence on what was made good and on what Qiskit makes of it, or that nothing was."""
        if self.extra_cx is None:
            return unmet_text(self.violations, "layout")
        if self.objective == "depth":
            return f"solved: depth {_compare(self.depth, self.baseline_depth)}"
        if self.objective == "success":
            return f"solved: success {_compare(self.success_probability, self.baseline_success_probability)}"
        if self.baseline_extra_cx == 0 and self.extra_cx:
            return f"solved: {self.extra_cx} extra CX, where Qiskit's own layout and routing add none"
        return f"solved: {_compare(self.extra_cx, self.baseline_extra_cx, ' extra CX')}"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return what routing adds, its bound, and what follows for depth and success."""
        added = ("extra_cx", "swaps", "bridges", "depth", "gap")
        return (
            *(Figure(name, getattr(self, name)) for name in added),
            Figure("lower_bound", self.lower_bound, None),
            Figure("success_probability", self.success_probability, "more"),
            Figure("seconds", self.seconds, unit="s"),
        )

    @property
    def rows(self) -> tuple[Stage, ...]:
        """Return the stages of the search."""
        return self.stages


def _compare(value: float | None, baseline: float | None, unit: str = "") -> str:
    """Return a figure and how far it is from Qiskit's."""
    if value is None or baseline is None:
        return f"{number_text(value)}{unit}"
    if value == baseline:
        return f"{number_text(value)}{unit}, as with Qiskit's own layout and routing"
    side = "below" if value < baseline else "above"
    share = f"{abs(value - baseline) / baseline:.1%} " if baseline else ""
    return f"{number_text(value)}{unit}, {share}{side} the {number_text(baseline)} of Qiskit's own layout and routing"
