"""The work behind a request for a circuit; what it needs is imported when the first one comes."""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, NamedTuple

from tiger.api.schemas.circuits import CircuitRequest, circuit_limits
from tiger.api.schemas.closed import take
from tiger.api.schemas.limits import Limits, check_device
from tiger.circuits.entry.arguments import LayoutCall
from tiger.model.text import find_file, text_of
from tiger.run.progress import Progress, ignore

if TYPE_CHECKING:
    from tiger.circuits.entry.hardware import Device
    from tiger.circuits.entry.layers import Circuit
    from tiger.circuits.entry.report import CircuitReport

# The share of the time for the search; the rest is for writing and comparing its result.
SEARCH = 0.75


class Routed(NamedTuple):
    """Hold a device and the report of a circuit on it."""

    device: "Device"
    report: "CircuitReport"


def lay_out(
    request: CircuitRequest,
    limits: Limits,
    watch: Callable[[Progress], None] = ignore,
    executor: Executor | None = None,
) -> "Routed":
    """Lay a circuit out and route it, within the limits, and return device and report; raise InputError with the field.

    Neither circuit nor device is ever opened as a file. Islands are shared with the executor where there are several.
    """
    from tiger.circuits.entry.entry import layout_one

    device, call = pose(request, limits, watch, executor)
    return Routed(device, layout_one(call))


def pose(
    request: CircuitRequest,
    limits: Limits,
    watch: Callable[[Progress], None] = ignore,
    executor: Executor | None = None,
) -> "tuple[Device, LayoutCall]":
    """Return the device and the call of a request, of which circuit and device are read; raise InputError."""
    device = read_device(request.topology, limits)
    call = take(
        LayoutCall,
        request,
        circuit=read_circuit(request.circuit, limits),
        coupling=device,
        time_limit_s=request.time_limit_s or SEARCH * limits.max_time_s,
        threads=1,
        executor=executor,
        progress=watch,
    )
    return device, call


def read_circuit(text: str, limits: Limits) -> "Circuit":
    """Return the circuit of a text within the limits; raise InputError of `circuit`."""
    from tiger.circuits.entry.reading import qasm_circuit

    return qasm_circuit(text, circuit_limits(limits))


def read_device(stated: str | list[object] | dict[str, object], limits: Limits) -> "Device":
    """Return the device of a specification, a document or a file's text within the limits; raise InputError."""
    from tiger.circuits.entry.hardware import FIELD, device_of_document, device_of_spec, document_of_text

    if isinstance(stated, str):
        return device_of_spec(stated, limits.max_qubits)
    file = find_file(FIELD, stated)
    document = stated if file is None else document_of_text(text_of(file, FIELD))
    check_device(limits, document)
    return device_of_document(document, limits.max_qubits)
