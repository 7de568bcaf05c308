"""What a caller asks of a circuit's mapping, checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from qiskit.circuit import QuantumCircuit

from tiger.circuits.entry.hardware import Device
from tiger.circuits.params import LayoutParams
from tiger.errors import InputError
from tiger.model.checking import check_values
from tiger.model.values import check_whole
from tiger.model.wording import describe
from tiger.routing.coupling import IndexArray
from tiger.run.progress import Progress, ignore
from tiger.solvers.registry import check_solver

LAYOUT = "initial_layout"


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """Hold a circuit, a device, how hard to search, and what is called as stages begin."""

    circuit: QuantumCircuit
    device: Device
    params: LayoutParams
    watch: Callable[[Progress], None] = ignore


def check_params(params: LayoutParams) -> LayoutParams:
    """Return parameters whose values can all be used, or raise InputError that names one."""
    check_solver(params.solver)
    check_values(params)
    if params.optimize and not params.commute:
        raise InputError("optimize", "expected commute with it, as gates that are written anew keep no order")
    return params


def read_layout(given: object, width: int, size: int) -> IndexArray:
    """Return the device qubit place[n] of every circuit qubit, from a list of them or a mapping of all circuit qubits.

    Raises InputError of `initial_layout` for one that is missing, unknown or given twice, TypeError for another type.
    """
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | Mapping | np.ndarray):
        raise TypeError(f"expected {LAYOUT} as a sequence or a mapping of device qubits, got {type(given).__name__}")
    keyed = given if isinstance(given, Mapping) else dict(enumerate(given))
    place = np.full(width, -1, np.int32)
    if len(keyed) != width:
        raise InputError(LAYOUT, f"expected a device qubit for each of {width} circuit qubits, got {len(keyed)}")
    for virtual, physical in keyed.items():
        field = f"{LAYOUT}/{virtual}"
        qubit = int(virtual) if str(virtual).isdecimal() and len(str(virtual)) < 10 else width
        if qubit >= width or place[qubit] >= 0:
            raise InputError(field, f"expected each circuit qubit from 0 to {width - 1} once, got {describe(virtual)}")
        spot = check_whole(field, physical)
        if spot >= size:
            raise InputError(field, f"expected a device qubit from 0 to {size - 1}, got {spot}")
        if (place == spot).any():
            raise InputError(field, f"expected different device qubits, got {spot} twice")
        place[qubit] = spot
    return place
