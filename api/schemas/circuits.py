"""The request of `POST /assign` for a circuit."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from tiger.api.schemas.closed import Closed
from tiger.api.schemas.files import FILE
from tiger.api.schemas.graphs import list_measurements, node_graph
from tiger.circuits.params import LayoutOptions
from tiger.model.options import about


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


QUBITS: JsonDict = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
TARGET: JsonDict = {
    "type": "object",
    "required": ["num_qubits", "gates"],
    "properties": {
        "num_qubits": {"type": "integer", "minimum": 1},
        "gates": list_measurements(
            {"name": {"type": "string"}, "qubits": QUBITS | {"minItems": 1}}, "error", "duration"
        ),
        "measure": list_measurements({"qubit": {"type": "integer"}}, "error", "duration"),
        "qubits": list_measurements({"qubit": {"type": "integer"}}, "t1", "t2"),
    },
}
COUPLING: JsonDict = {
    "type": "object",
    "required": ["coupling_map"],
    "properties": {"coupling_map": {"type": "array", "items": QUBITS}, "num_qubits": {"type": "integer"}},
}
Device = Annotated[
    str | list[object] | dict[str, object],
    WithJsonSchema(
        {"oneOf": [{"type": "string"}, {"type": "array", "items": QUBITS}, COUPLING, node_graph(), TARGET, FILE]}
    ),
]


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
class CircuitRequest(LayoutOptions, Circuit, Closed):
    """Ask where the qubits of a circuit go on a device, and for the routed circuit."""

    initial_layout: Annotated[list[int], Field(fail_fast=True)] | None = field(
        default=None, metadata=about("Device qubit of every circuit qubit, in order; chosen without it.")
    )
