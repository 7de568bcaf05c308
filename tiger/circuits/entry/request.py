"""What a caller asks of a circuit's mapping, checked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from qiskit.circuit import QuantumCircuit

from tiger.circuits.entry.hardware import Device
from tiger.circuits.params import LEVELS, CircuitObjective, LayoutParams
from tiger.errors import InputError
from tiger.formats.values import check_whole
from tiger.model.wording import describe
from tiger.routing.coupling import IndexArray
from tiger.run.limits import check_islands, check_limits
from tiger.run.progress import Progress, ignore
from tiger.solvers.registry import check_solver

# More than a machine has cores: a larger number is a mistake.
THREADS = 1024
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
    check_limits(params.seed, params.effort, params.time_limit_s)
    check_islands(params.islands)
    if type(params.level) is not int or params.level not in LEVELS:
        raise InputError("level", f"expected a level from 0 to {max(LEVELS)}, got {describe(params.level)}")
    if params.effort is None:
        raise InputError("effort", "expected a whole number from 1 to 2**63 - 1, got none")
    if params.objective not in get_args(CircuitObjective):
        known = ", ".join(get_args(CircuitObjective))
        raise InputError("objective", f"expected one of {known}, got {describe(params.objective)}")
    if type(params.threads) is not int or not 1 <= params.threads <= THREADS:
        raise InputError("threads", f"expected a whole number from 1 to {THREADS}, got {describe(params.threads)}")
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
