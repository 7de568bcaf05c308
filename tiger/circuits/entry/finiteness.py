"""Whether all angles and durations of a circuit are finite numbers."""

import cmath

import numpy as np
from qiskit.circuit import Operation, ParameterExpression, QuantumCircuit
from qiskit.circuit.library import UnitaryGate

from tiger.circuits.entry.scan import FIELD
from tiger.errors import InputError
from tiger.model.wording import describe


def check_finite(circuit: QuantumCircuit) -> None:
    """Raise InputError of `circuit` that names a gate with a parameter that is infinite or no number.

    Blocks of control flow and the definitions of gates are looked into. O(operations).
    """
    _check(circuit, "", {})


def _check(circuit: QuantumCircuit, place: str, seen: dict[int, QuantumCircuit]) -> None:
    """Check a circuit; `place` says where it stands, and `seen` keeps the definitions that were checked."""
    if not _is_finite(circuit.global_phase):
        raise InputError(FIELD, f"expected finite angles, got the global phase {circuit.global_phase}{place}")
    for instruction in circuit.data:
        if instruction.is_control_flow():
            for block in instruction.operation.blocks:
                _check(block, place, seen)
            continue
        for k, value in enumerate(instruction.params, 1):
            if not _is_finite(value):
                found = f"{value} as parameter {k} of {describe(instruction.name)}"
                raise InputError(FIELD, f"expected finite angles, got {found}{place}")
        if not instruction.is_standard_gate():
            _check_definition(instruction.operation, seen)


def _check_definition(operation: Operation, seen: dict[int, QuantumCircuit]) -> None:
    """Check what a gate is defined as, once for every definition; a matrix, which takes long to write out, is none."""
    if isinstance(operation, UnitaryGate):
        return
    try:
        inside = getattr(operation, "definition", None)
    except Exception as error:  # noqa: BLE001 (a definition may be any expression of the parameters)
        said = str(getattr(error, "message", error))
        raise InputError(FIELD, f"expected gates that are defined, got {describe(operation.name)}: {said}") from None
    if isinstance(inside, QuantumCircuit) and id(inside) not in seen:
        seen[id(inside)] = inside
        _check(inside, f" in {describe(operation.name)}", seen)


def _is_finite(value: object) -> bool:
    """Return whether a parameter is finite, as all are that are no numbers."""
    if isinstance(value, ParameterExpression):
        return bool(value.parameters) or _is_finite(value.numeric())
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "iufc" or bool(np.isfinite(value).all())
    try:
        return not isinstance(value, complex | float | int) or cmath.isfinite(value)
    except OverflowError:
        return False
