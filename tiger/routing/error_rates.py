"""The error rates of a device."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, check_amounts, lock
from tiger.routing.coupling import Coupling

# Gates that are the same in both directions, and operations that say nothing about the error of a gate.
ALIKE = frozenset({"cz", "cp", "cu1", "rzz", "rxx", "ryy", "iswap"})
SILENT = frozenset({"measure", "reset", "delay", "id", "swap", "barrier"})
# What a Target lists of an operation, qubits, error and seconds, and all of it by name.
Listed = tuple[tuple[int, ...] | None, float | None, float | None]
Listing = tuple[tuple[str, tuple[Listed, ...]], ...]
# T1 and T2 of a qubit in seconds.
Times = tuple[float | None, float | None]
# Devices whose errors are kept.
KEPT = 16
# The largest error whose logarithm is taken: a faulty gate costs 21, and no infinity enters the model.
HOPELESS = 1 - 1e-9


class Gate(NamedTuple):
    """Give the error and the seconds of a two-qubit gate from qubit a to b, which may be `alike` in both directions."""

    a: int
    b: int
    error: float
    seconds: float = 0.0
    alike: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Errors:
    """Hold the error rates of N device qubits.

    `pair[N, N]`: error of the two-qubit gate from p to q, 1 where there is none or it is faulty; `single[N]` of a
    one-qubit gate; `readout[N]`. `pair_s[N, N]`, `single_s[N]`: seconds, 0 where unknown. `decay[N]`: rate per second
    at which an idle qubit loses its state, 0 where unknown.
    """

    pair: FloatArray
    single: FloatArray
    readout: FloatArray
    pair_s: FloatArray
    single_s: FloatArray
    decay: FloatArray

    @property
    def size(self) -> int:
        """Return the number of device qubits."""
        return len(self.single)

    @classmethod
    def of(
        cls,
        gates: Iterable[Gate],
        single: Sequence[float] | FloatArray,
        readout: Sequence[float] | FloatArray,
        single_s: Sequence[float] | FloatArray | None = None,
        decay: Sequence[float] | FloatArray | None = None,
    ) -> "Errors":
        """Return the errors by gate and qubit; of several gates on a pair the best counts.

        A gate that exists in one direction alone runs the other way between two one-qubit gates on either qubit, unless
        it is alike in both. An error of 1 or more marks a gate or qubit as faulty. Raises InputError.
        """
        size = len(single)
        one = np.minimum(check_amounts("topology/single", single, size), 1.0)
        one_s = check_amounts("topology/single_s", np.zeros(size) if single_s is None else single_s, size)
        pair, pair_s = _pairs(gates, one, one_s)
        return cls(
            pair=lock(pair),
            single=lock(one),
            readout=lock(np.minimum(check_amounts("topology/readout", readout, size), 1.0)),
            pair_s=lock(pair_s),
            single_s=one_s,
            decay=check_amounts("topology/decay", np.zeros(size) if decay is None else decay, size),
        )

    def without_decay(self) -> "Errors":
        """Return the errors of gates and readout alone, with which waiting costs nothing."""
        return replace(self, decay=lock(np.zeros(self.size)))

    def without_certainty(self) -> "Errors":
        """Return errors below 1, with which a circuit that has to use what is faulty uses little of it."""
        pair, single, readout = (lock(np.minimum(e, HOPELESS)) for e in (self.pair, self.single, self.readout))
        return replace(self, pair=pair, single=single, readout=readout)

    def coupling(self) -> Coupling:
        """Return the coupling map of the pairs that work in either direction, on qubits that are not faulty."""
        works = (self.pair < 1) & (self.single < 1)[:, None] & (self.single < 1)
        return Coupling.of(self.size, [(int(p), int(q)) for p, q in np.argwhere(works | works.T)])


class Properties(Protocol):
    """Hold error and seconds of an operation as Qiskit's InstructionProperties do."""

    @property
    def error(self) -> float | None:
        """Return the error, None where unknown."""

    @property
    def duration(self) -> float | None:
        """Return the seconds, None where unknown."""


class Relaxation(Protocol):
    """Hold relaxation times in seconds as Qiskit's QubitProperties do."""

    @property
    def t1(self) -> float | None:
        """Return the energy relaxation time."""

    @property
    def t2(self) -> float | None:
        """Return the dephasing time."""


class TargetLike(Protocol):
    """Describe what is read of a Qiskit Target."""

    @property
    def num_qubits(self) -> int | None:
        """Return the number of qubits."""

    @property
    def operation_names(self) -> Iterable[str]:
        """Return the names of all operations."""

    @property
    def qubit_properties(self) -> Sequence[Relaxation] | None:
        """Return the relaxation times by qubit."""

    def __getitem__(self, name: str, /) -> Mapping[tuple[int, ...] | None, Properties | None]:
        """Return the properties of an operation by the qubits it may act on."""


def errors_of_target(target: TargetLike) -> Errors:
    """Return the errors of a Qiskit Target; O(N^2), O(N + pairs) where a Target that lists the same was asked before.

    On a qubit the worst one-qubit gate counts, on a pair the best two-qubit gate other than SWAP. Where an error is
    missing, the mean of the operation on other qubits stands for it; operations whose errors are all missing count only
    if there are no others, as perfect ones. Without any two-qubit gate that names its qubits all pairs are perfect.
    """
    tables = tuple((name, tuple(map(_read, target[name].items()))) for name in sorted(target.operation_names))
    times = tuple((each.t1, each.t2) for each in target.qubit_properties or ())
    return _errors_of(target.num_qubits or 0, tables, times)


def _read(row: tuple[tuple[int, ...] | None, Properties | None]) -> Listed:
    """Return what a Target lists of an operation."""
    qubits, known = row
    return (qubits, None, None) if known is None else (qubits, known.error, known.duration)


@lru_cache(maxsize=KEPT)
def _errors_of(size: int, listed: Listing, times: tuple[Times, ...]) -> Errors:
    """Return the errors of a device, the same for the same device: they cannot change."""
    tables = {name: _PropertyTable(rows) for name, rows in listed}
    gates = {name: table for name, table in tables.items() if name not in SILENT}
    singles = _known_tables([table for table in gates.values() if table.width == 1])
    pairs = [(name in ALIKE, table) for name, table in _known_by_name(gates).items()]
    anywhere = [Gate(a, b, 0.0) for a in range(size) for b in range(size) if a != b] if not pairs else []
    return Errors.of(
        chain(anywhere, *(table.gates(alike) for alike, table in pairs)),
        _find_worst([table.errors() for table in singles], size),
        _find_worst([tables["measure"].errors()] if "measure" in tables else [], size),
        _find_worst([table.seconds() for table in singles], size),
        _decay(times, size),
    )


class _PropertyTable:
    """Hold the properties of one operation by its qubits, as numbers."""

    def __init__(self, rows: tuple[Listed, ...]) -> None:
        self.rows = {qubits: numbers for qubits, *numbers in rows if qubits is not None}
        self.width = len(next(iter(self.rows), ()))

    @property
    def known(self) -> bool:
        """Return whether any error is known."""
        return any(math.isfinite(error) for error in self._numbers(0).values())

    def errors(self) -> dict[tuple[int, ...], float]:
        """Return the error by qubits."""
        return self._fill(0)

    def seconds(self) -> dict[tuple[int, ...], float]:
        """Return the duration by qubits."""
        return self._fill(1)

    def gates(self, alike: bool) -> Iterator[Gate]:  # noqa: FBT001 (a property of the gate)
        """Yield the two-qubit gates; none for an operation of another width."""
        if self.width == 2:
            seconds = self.seconds()
            for (a, b), error in self.errors().items():
                yield Gate(a, b, error, seconds[a, b], alike)

    def _numbers(self, column: int) -> dict[tuple[int, ...], float]:
        """Return error or seconds by qubits, NaN where it is missing."""
        values = {qubits: row[column] for qubits, row in self.rows.items()}
        return {qubits: math.nan if value is None else float(value) for qubits, value in values.items()}

    def _fill(self, column: int) -> dict[tuple[int, ...], float]:
        """Return error or seconds by qubits, where it is missing the mean of what is known and not faulty, else 0."""
        values = self._numbers(column)
        known = [value for value in values.values() if math.isfinite(value) and value < 1]
        mean = sum(known) / len(known) if known else 0.0
        return {qubits: mean if math.isnan(value) else value for qubits, value in values.items()}


def _known_tables(tables: list[_PropertyTable]) -> list[_PropertyTable]:
    """Return the tables with known errors, all of them if there are none."""
    return [table for table in tables if table.known] or tables


def _known_by_name(gates: Mapping[str, _PropertyTable]) -> dict[str, _PropertyTable]:
    """Return the tables of two-qubit gates with known errors, all of them if there are none."""
    pairs = {name: table for name, table in gates.items() if table.width == 2}
    return {name: table for name, table in pairs.items() if table.known} or pairs


def _find_worst(values: Sequence[Mapping[tuple[int, ...], float]], size: int) -> FloatArray:
    """Return the largest number of every qubit, 0 for one without any."""
    worst = np.zeros(size)
    for table in values:
        for (qubit,), value in table.items():
            worst[qubit] = max(worst[qubit], value)
    return worst


def _decay(times: tuple[Times, ...], size: int) -> FloatArray:
    """Return the rates at which idle qubits lose their state, 0 where the times are unknown."""
    rates = np.zeros(size)
    for qubit, (t1, t2) in enumerate(times):
        # To first order, the mean loss of fidelity of a relaxing qubit by the formula of Horodecki, Horodecki and
        # Horodecki 1999 (doi:10.1103/PhysRevA.60.1888).
        rates[qubit] = _rate(6, t1) + _rate(3, t2)
    return rates


def _rate(factor: int, seconds: float | None) -> float:
    """Return the rate of a relaxation time, 0 for one that is unknown."""
    return 1 / (factor * seconds) if seconds else 0.0


def _pairs(gates: Iterable[Gate], single: FloatArray, single_s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return error and seconds of the two-qubit gate by pair, both directions filled in where one exists."""
    size = len(single)
    pair, pair_s = np.ones((size, size)), np.zeros((size, size))
    turned = []
    for gate in gates:
        _check(gate, size)
        _offer(pair, pair_s, gate)
        turned.append(_turn(gate, single, single_s))
    # A gate in one direction runs the other way between one-qubit gates, unless there is one of its own.
    given = pair < 1
    for gate in turned:
        if gate.alike or not given[gate.a, gate.b]:
            _offer(pair, pair_s, gate)
    return pair, pair_s


def _check(gate: Gate, size: int) -> None:
    """Raise InputError for a gate on qubits or with numbers that cannot be."""
    if not (0 <= gate.a < size and 0 <= gate.b < size and gate.a != gate.b):
        raise InputError("topology/gates", f"expected two qubits from 0 to {size - 1}, got {gate.a} and {gate.b}")
    if not (gate.error >= 0 and 0 <= gate.seconds < math.inf):
        raise InputError("topology/gates", f"expected an error and seconds >= 0 on {gate.a}, {gate.b}")


def _offer(pair: FloatArray, pair_s: FloatArray, gate: Gate) -> None:
    """Enter a gate where it is better than what is there."""
    if gate.error < pair[gate.a, gate.b]:
        pair[gate.a, gate.b], pair_s[gate.a, gate.b] = gate.error, gate.seconds


def _turn(gate: Gate, single: FloatArray, single_s: FloatArray) -> Gate:
    """Return the gate the other way round, between two one-qubit gates on either qubit unless it is alike."""
    if gate.alike:
        return gate._replace(a=gate.b, b=gate.a)
    ends = [gate.a, gate.b]
    error = 1 - (1 - min(gate.error, 1.0)) * float(np.prod(1 - single[ends]) ** 2)
    return Gate(gate.b, gate.a, error, gate.seconds + 2 * float(single_s[ends].max()))
