"""The request of `POST /assign` for a circuit."""

from dataclasses import dataclass, field
from typing import Annotated, NotRequired

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from tiger.api.schemas.closed import Closed, Documented
from tiger.api.schemas.files import FileBody
from tiger.api.schemas.graphs import HardwareGraph
from tiger.api.schemas.limits import SMALL_HARD_TEXT, SMALL_TEXT, Limits, check_device
from tiger.api.schemas.starts import StartJob
from tiger.circuits.entry.scan import CircuitLimits, scan
from tiger.circuits.params import LayoutOptions
from tiger.model.options import about

# Bytes of OpenQASM 3, whose parser takes far longer for each than that of OpenQASM 2.
MAX_BYTES_3 = 1_048_576
# A text of so many bytes is measured in a millisecond or two, which is cheaper than to have a worker refuse it.
SHORT = 32_768


def _check_text(value: object) -> object:
    """Refuse what is not the text of a circuit, and say what is wanted."""
    if not isinstance(value, str):
        raise PydanticCustomError("circuit", "expected the text of a circuit in OpenQASM 2 or 3")
    return value


def _check_device(value: object) -> object:
    """Refuse what is neither a specification nor a document."""
    if not isinstance(value, str | list | dict):
        raise PydanticCustomError(
            "device", "expected a specification such as 'heavy-hex:7', pairs of qubits, an object or a file"
        )
    return value


Qubit = Annotated[int, Field(ge=0)]
Pair = Annotated[list[Qubit], Field(min_length=2, max_length=2)]
Amount = Annotated[float, Field(ge=0)]


class CouplingMap(TypedDict):
    """Describe a device by its pairs of coupled qubits."""

    coupling_map: list[Pair]
    num_qubits: NotRequired[int]


class TargetGate(TypedDict):
    """Describe a gate on the qubits of a device; errors are from 0 to 1, times in seconds."""

    name: str
    qubits: Annotated[list[Qubit], Field(min_length=1, max_length=2)]
    error: NotRequired[Amount]
    duration: NotRequired[Amount]


class TargetMeasurement(TypedDict):
    """Describe the measurement of a qubit; errors are from 0 to 1, times in seconds."""

    qubit: int
    error: NotRequired[Amount]
    duration: NotRequired[Amount]


class TargetQubit(TypedDict):
    """Describe how long a qubit keeps its state, in seconds."""

    qubit: int
    t1: NotRequired[Amount]
    t2: NotRequired[Amount]


class Target(TypedDict):
    """Describe a device as a Target of Qiskit."""

    num_qubits: Annotated[int, Field(ge=1)]
    gates: list[TargetGate]
    measure: NotRequired[list[TargetMeasurement]]
    qubits: NotRequired[list[TargetQubit]]


Coupling = list[Pair] | CouplingMap | Target
Device = Annotated[str | list[object] | dict[str, object], Documented(str | Coupling | HardwareGraph | FileBody)]


@dataclass(frozen=True, kw_only=True)
class Circuit:
    """Hold a circuit and the device that is to run it."""

    circuit: Annotated[str, BeforeValidator(_check_text)] = field(
        metadata=about(
            "OpenQASM 2 or 3, which may include nothing but its standard library. Gates on three and more qubits "
            "are written out on one and two; those without a definition are refused."
        )
    )
    topology: Annotated[Device, BeforeValidator(_check_device)] = field(
        metadata=about(
            "Specification such as `heavy-hex:7` (see `GET /topologies`), pairs of qubits, an object with a "
            "`coupling_map` of pairs and optionally `num_qubits`, a node-link graph, or a Target: `num_qubits`, "
            "`gates` with `name`, `qubits`, `error` and `duration`, `measure` with `qubit`, `error` and `duration`, "
            "and `qubits` with `qubit`, `t1` and `t2`; errors from 0 to 1 (faulty), times in seconds. A file of these, "
            "or with two qubits on every line, is `{file, text}`. No string is opened as a file."
        )
    )


@dataclass(frozen=True, kw_only=True)
class CircuitRequest(LayoutOptions, StartJob, Circuit, Closed):
    """Ask where the qubits of a circuit go on a device, and for the routed circuit."""

    initial_layout: Annotated[list[int], Field(fail_fast=True)] | None = field(
        default=None, metadata=about("Device qubit of every circuit qubit, in order; chosen without it.")
    )

    def measure(self, limits: Limits) -> None:
        """Raise InputError for more than a service allows; a long circuit is measured where it is read."""
        check_device(limits, self.topology)
        scan_circuit(self.circuit, limits)

    @property
    def is_small(self) -> bool:
        """Guess from its length and its effort whether a circuit takes a fraction of a second."""
        most = SMALL_TEXT if self.level <= 1 else SMALL_HARD_TEXT
        return len(self.circuit) * self.effort * self.islands <= most


def scan_circuit(circuit: str, limits: Limits) -> None:
    """Raise InputError for a circuit that is short, and yet too large or one that would read files."""
    if len(circuit) <= SHORT:
        scan(circuit, circuit_limits(limits))


def circuit_limits(limits: Limits) -> CircuitLimits:
    """Return the bounds of a circuit."""
    return CircuitLimits(max_qubits=limits.max_qubits, max_gates=limits.max_gates, max_bytes_3=MAX_BYTES_3)
