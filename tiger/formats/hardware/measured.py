"""Measured latencies or bandwidths between all nodes, as a matrix or as pairs in text (`.csv`)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.formats.csvmatrix import Rows, read_rows
from tiger.formats.hardware.plain import MessageRates, PlainHardware
from tiger.formats.quantity import PREFIXES
from tiger.formats.quantity import TIMES as FACTORS
from tiger.model.arrays import BoolArray, FloatArray, lock
from tiger.model.metrics import DENSE_LIMIT, DenseMetric
from tiger.model.problem import LARGEST
from tiger.model.text import is_number, read_amounts
from tiger.model.topology import Topology
from tiger.model.wording import describe

FIELD = "topology"
TIMES = ("s", "ms", "us", "ns")
# Missing pairs that an error names: as many as fit on a line.
PAIRS_LISTED = 4
# A table has one unit, which cancels where distances are taken relative to the nearest two.
_RATE = re.compile(r"(?:[kKMGT]i?)?[bB]/s")


class Measurement(NamedTuple):
    """Hold what was measured from node `a` to node `b`, and where that stands."""

    where: str
    a: str
    b: str
    value: float


def read_network(text: str) -> PlainHardware:
    """Return the nodes as `read_nodes` does, with what the table states of messages between them."""
    return rate_nodes(*_read_table(text))


def rate_nodes(names: Sequence[str], values: FloatArray, unit: str) -> PlainHardware:
    """Return nodes as `relate_nodes` does, with what was measured in bytes per second or seconds."""
    return PlainHardware(relate_nodes(names, values, unit), "node", partial(_convert, values, unit))


def read_nodes(text: str) -> Topology:
    """Return the nodes of a table, as far apart as a message takes long between them; the nearest two are 1 apart.

    A matrix has names in its first row and column and the unit in the corner, s, ms, us, ns or one such as GB/s;
    row u, column v is what was measured from u to v, and the diagonal plays no part. Pairs have two names and a value,
    with the unit in the third cell of a first row; a pair that is listed one way counts both ways. Raises InputError of
    `topology` with the row or pair at fault.
    """
    return relate_nodes(*_read_table(text))


def _read_table(text: str) -> tuple[Sequence[str], FloatArray, str]:
    """Return the names of a table, its values, NaN where nothing is stated, and their unit."""
    rows = read_rows(FIELD, text)
    pairs = len(rows[0]) == 3 and _is_unit(rows[0][2])
    unit = rows[0][2] if pairs else rows[0][0]
    if not _is_unit(unit):
        what = "expected a unit such as us or GB/s in the first cell of a matrix, or in the third of pairs"
        raise InputError(FIELD, f"{what}, got {describe(unit)}")
    names, values = fill_pairs(_read_pairs(rows[1:])) if pairs else _read_matrix(rows)
    return names, values, unit


def _convert(values: FloatArray, unit: str) -> MessageRates:
    """Return the bytes per second or seconds of a table, in the slower direction of each two nodes."""
    if unit in TIMES:
        return MessageRates(latency_s=np.maximum(values, values.T) * float(FACTORS[unit]))
    # Of bits or bytes, with a prefix of which `ki` is another way to write `Ki`.
    factor = PREFIXES[unit[:-3].replace("ki", "Ki")] / (8 if unit[-3] == "b" else 1)
    return MessageRates(bandwidth=np.minimum(values, values.T) * factor)


def relate_nodes(names: Sequence[str], values: FloatArray, unit: str) -> Topology:
    """Return nodes for what was measured between them, NaN for nothing; raise InputError with the nodes at fault."""
    apart = ~np.eye(len(names), dtype=bool)
    missing = np.triu(np.isnan(values) & apart)
    if missing.any():
        raise InputError(
            FIELD, f"expected a value above 0 for every two nodes, got nothing {_list_pairs(names, missing)}"
        )
    wrong = np.argwhere(apart & ~(values > 0))
    if wrong.size:
        a, b = (describe(names[k]) for k in wrong[0])
        raise InputError(FIELD, f"expected a value above 0 for every two nodes, got 0 from {a} to {b}")
    least, most = float(values.min(initial=np.inf, where=apart)), float(values.max(initial=0.0, where=apart))
    if not most <= LARGEST * least:
        (a, b), (c, d) = (
            [describe(names[k]) for k in np.argwhere(apart & (values == end))[0]] for end in (least, most)
        )
        what = f"expected values at most {LARGEST:g} times each other"
        raise InputError(FIELD, f"{what}, got {least:g} from {a} to {b} and {most:g} from {c} to {d}")
    np.fill_diagonal(values, 1.0)
    table = values / least if unit in TIMES else most / values
    np.fill_diagonal(table, 0.0)
    return Topology(names=tuple(names), metric=DenseMetric(lock(table)))


def _list_pairs(names: Sequence[str], chosen: BoolArray) -> str:
    """Return the first few pairs that are chosen[n, n], and how many others are."""
    rows = np.flatnonzero(chosen.any(axis=1))[:PAIRS_LISTED]
    first = [(rows[row], column) for row, column in np.argwhere(chosen[rows])[:PAIRS_LISTED]]
    listed = ", ".join(f"from {describe(names[a])} to {describe(names[b])}" for a, b in first)
    others = np.count_nonzero(chosen) - len(first)
    return f"{listed} and {others} more" if others else listed


def _is_unit(word: str) -> bool:
    """Return whether a word is a unit of time or of bandwidth."""
    return word in TIMES or _RATE.fullmatch(word) is not None


def _check_names(names: Sequence[str]) -> None:
    """Raise InputError unless there are two nodes at least, and not too many for a table."""
    if not 2 <= len(names) <= DENSE_LIMIT:
        raise InputError(FIELD, f"expected 2 to {DENSE_LIMIT} nodes, got {len(names)}")


def _read_matrix(rows: Rows) -> tuple[list[str], FloatArray]:
    """Return the names of a matrix and its values."""
    names = rows[0][1:]
    _check_names(names)
    if len(rows) != len(rows[0]):
        raise InputError(FIELD, f"expected a square matrix, got {len(rows) - 1} rows of {len(names)} values")
    values = np.empty((len(names), len(names)))
    for k, row in enumerate(rows[1:]):
        if row[0] != names[k]:
            what = f"expected {describe(names[k])} as in the first row"
            raise InputError(FIELD, f"matrix row {k + 1}: {what}, got {describe(row[0])}")
        row[k + 1] = "0"
        values[k] = read_amounts(FIELD, f"matrix row {k + 1}", row[1:])
    return names, values


def _read_pairs(rows: Rows) -> Iterator[Measurement]:
    """Read the pairs of a table."""
    for k, (a, b, value) in enumerate(rows, 1):
        if not is_number(value):
            raise InputError(FIELD, f"pair {k}: expected a number, got {describe(value)}")
        yield Measurement(f"pair {k}", a, b, float(read_amounts(FIELD, f"pair {k}", [value])[0]))


def fill_pairs(pairs: Iterable[Measurement]) -> tuple[list[str], FloatArray]:
    """Return the names of pairs, in the order in which they come, and a matrix with NaN where nothing is stated.

    What is stated one way counts both ways.
    """
    pairs = list(pairs)
    index: dict[str, int] = {}
    for pair in pairs:
        for name in (pair.a, pair.b):
            index.setdefault(name, len(index))
    _check_names(list(index))
    values = np.full((len(index), len(index)), np.nan)
    for where, a, b, value in pairs:
        if a == b or not np.isnan(values[index[a], index[b]]):
            raise InputError(FIELD, f"{where}: expected each two nodes once, got {describe(a)} and {describe(b)}")
        values[index[a], index[b]] = value
    missing = np.isnan(values)
    values[missing] = values.T[missing]
    return list(index), values
