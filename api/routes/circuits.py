"""The work behind a request for a circuit; what it needs is imported when the first one comes."""

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, NamedTuple

from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.limits import Limits, check_device
from tiger.circuits.entry.scan import CircuitLimits, scan
from tiger.circuits.params import LayoutParams
from tiger.formats.text import find_file, text_of
from tiger.model.options import narrow
from tiger.run.progress import Progress, ignore

if TYPE_CHECKING:
    from tiger.circuits.entry.hardware import Device
    from tiger.circuits.entry.layers import Circuit
    from tiger.circuits.entry.report import CircuitReport

# Bytes of OpenQASM 3, whose parser takes far longer for each than that of OpenQASM 2.
MAX_BYTES_3 = 1_048_576
# The share of the time for the search; the rest is for writing and comparing its result.
SEARCH = 0.75
# A text of so many bytes is measured in a millisecond or two, which is cheaper than to have a worker refuse it.
SHORT = 32_768


class Routed(NamedTuple):
    """Hold a device and the report of a circuit on it."""

    device: "Device"
    report: "CircuitReport"


def scan_circuit(circuit: str, limits: Limits) -> None:
    """Raise InputError for a circuit that is short, and yet too large or one that would read files."""
    if len(circuit) <= SHORT:
        scan(circuit, _bounds(limits))


def lay_out(
    request: CircuitRequest,
    limits: Limits,
    watch: Callable[[Progress], None] = ignore,
    executor: Executor | None = None,
) -> "Routed":
    """Lay a circuit out and route it, within the limits, and return device and report; raise InputError with the field.

    Neither circuit nor device is ever opened as a file. Islands are shared with the executor where there are several.
    """
    from tiger.circuits.entry.layout import report_mapping
    from tiger.circuits.entry.request import LayoutRequest, check_params

    limit_s = request.time_limit_s or SEARCH * limits.max_time_s
    params = check_params(narrow(LayoutParams, request, time_limit_s=limit_s, threads=1, executor=executor))
    circuit, device = read_circuit(request.circuit, limits), read_device(request.topology, limits)
    return Routed(device, report_mapping(LayoutRequest(circuit, device, params, watch), request.initial_layout))


def read_circuit(text: str, limits: Limits) -> "Circuit":
    """Return the circuit of a text within the limits; raise InputError of `circuit`."""
    from tiger.circuits.entry.reading import qasm_circuit

    return qasm_circuit(text, _bounds(limits))


def read_device(stated: str | list[object] | dict[str, object], limits: Limits) -> "Device":
    """Return the device of a specification, a document or a file's text within the limits; raise InputError."""
    from tiger.circuits.entry.hardware import FIELD, device_of_document, device_of_spec, document_of_text

    if isinstance(stated, str):
        return device_of_spec(stated, limits.max_qubits)
    file = find_file(FIELD, stated)
    document = stated if file is None else document_of_text(text_of(file, FIELD))
    check_device(limits, document)
    return device_of_document(document, limits.max_qubits)


def _bounds(limits: Limits) -> CircuitLimits:
    """Return the bounds of a circuit."""
    return CircuitLimits(max_qubits=limits.max_qubits, max_gates=limits.max_gates, max_bytes_3=MAX_BYTES_3)
