"""The work behind a request for a circuit; what it needs is imported when the first one comes."""

from typing import TYPE_CHECKING

from tiger.api.limits import Limits
from tiger.api.schemas import CircuitRequest
from tiger.circuits.params import LayoutParams

if TYPE_CHECKING:
    from tiger.circuits.doors.report import CircuitReport

MAX_GATES, MAX_BYTES_3 = 250_000, 1_048_576


def laid_out(request: CircuitRequest, limits: Limits) -> "CircuitReport":
    """Lay a circuit out and route it, within the limits; raise InputError that names the field.

    Neither circuit nor device is ever opened as a file.
    """
    from tiger.circuits.doors.door import answered
    from tiger.circuits.doors.hardware import device_of_document, device_of_spec
    from tiger.circuits.doors.reading import qasm_circuit
    from tiger.circuits.doors.request import Asked, checked
    from tiger.circuits.doors.scan import CircuitLimits

    params = checked(
        LayoutParams(
            level=request.level,
            effort=request.effort,
            objective=request.objective,
            solver=request.solver,
            seed=request.seed,
            time_limit_s=request.time_limit_s or limits.max_time_s,
            commute=request.commute,
        )
    )
    bounds = CircuitLimits(max_qubits=limits.max_qubits, max_gates=MAX_GATES, max_bytes_3=MAX_BYTES_3)
    circuit = qasm_circuit(request.circuit, bounds)
    hardware = request.topology
    if isinstance(hardware, str):
        device = device_of_spec(hardware, limits.max_qubits)
    else:
        device = device_of_document(hardware, limits.max_qubits)
    return answered(Asked(circuit, device, params), request.initial_layout)
