"""What variables of the environment set of the transpiler plugins: Qiskit gives these no options of their own."""

import math
import os

from qiskit.transpiler import TranspilerError

from tiger.circuits.params import LayoutParams
from tiger.circuits.transpiler.delivery import OBJECTIVES, DeliveryObjective

EFFORT, SOLVER, OBJECTIVE = "TIGER_LAYOUT_EFFORT", "TIGER_LAYOUT_SOLVER", "TIGER_LAYOUT_OBJECTIVE"
TIME, QUBITS = "TIGER_LAYOUT_TIME_S", "TIGER_LAYOUT_QUBITS"


def read_solver() -> str:
    """Return the sampler of the Ising proposals."""
    return os.environ.get(SOLVER, LayoutParams().solver)


def read_effort() -> int:
    """Return the effort that the environment asks for."""
    effort = os.environ.get(EFFORT, "1")
    if not effort.isdecimal() or int(effort) < 1:
        raise TranspilerError(f"{EFFORT}: expected a whole number from 1, found {effort!r}")
    return int(effort)


def read_objective() -> DeliveryObjective:
    """Return the objective that the environment asks for."""
    asked = os.environ.get(OBJECTIVE, "auto")
    for known in OBJECTIVES:
        if asked == known:
            return known
    raise TranspilerError(f"{OBJECTIVE}: expected one of {', '.join(OBJECTIVES)}, found {asked!r}")


def read_time_limit() -> float | None:
    """Return after how many seconds a search ends, None where nothing is said."""
    asked = os.environ.get(TIME)
    if asked is None:
        return None
    try:
        limit_s = float(asked)
    except ValueError:
        limit_s = 0.0
    if not 0 < limit_s < math.inf:
        raise TranspilerError(f"{TIME}: expected a number of seconds above 0, found {asked!r}")
    return limit_s


def read_qubits(size: int) -> frozenset[int] | None:
    """Return the device qubits that circuits may use, of a device of some size; None where nothing is said.

    They are numbers and ranges such as 0-4, with commas between.
    """
    asked = os.environ.get(QUBITS)
    if asked is None:
        return None
    found = set[int]()
    for part in asked.split(","):
        first, _, last = (end.strip() for end in part.partition("-"))
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < size):
            raise TranspilerError(
                f"{QUBITS}: expected device qubits from 0 to {size - 1} such as 0,2,5-9, found {part.strip()!r}"
            )
        found |= set(range(int(first), int(last) + 1))
    return frozenset(found)
