"""Measured times of messages: lists of pairs, and CSV files of benchmarks, which become curves."""

import csv
from collections.abc import Mapping

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.nccltests import MeasuredCollective
from tiger.formats.quantity import convert_quantity
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.text import read_amounts
from tiger.model.values import check_amount
from tiger.model.wording import describe
from tiger.training.hardware.cluster import Curve
from tiger.training.hardware.limits import COST_LIMIT
from tiger.training.hardware.record import check_list

KIBIBYTE = 1024.0
MICROSECOND = 1e-6
Rows = list[dict[str, str]]
# Column of sizes: the column of times, and the units of the two in bytes and seconds.
_COLUMNS = {"bytes": ("seconds", 1.0, 1.0), "size(kb)": ("time(us)", KIBIBYTE, MICROSECOND)}


def curve_of_pairs(field: str, value: object) -> Curve:
    """Return the curve through a list of `[bytes, seconds]`: sizes rise, times do not fall."""
    rows = [check_list(f"{field}/{k}", pair) for k, pair in enumerate(check_list(field, value))]
    for k, row in enumerate(rows):
        if len(row) != 2:
            raise InputError(f"{field}/{k}", f"expected a pair of bytes and seconds, got {len(row)} values")
    sizes = [
        check_amount(f"{field}/{k}/0", convert_quantity(f"{field}/{k}/0", size, "bytes"))
        for k, (size, _) in enumerate(rows)
    ]
    times = [
        check_amount(f"{field}/{k}/1", convert_quantity(f"{field}/{k}/1", time, "seconds"))
        for k, (_, time) in enumerate(rows)
    ]
    return _curve(field, np.array(sizes), np.array(times))


def curve_of_csv(text: str, where: Mapping[str, str] | None = None, field: str = "cluster/links/table") -> Curve:
    """Return the curve of measured times in a CSV text with columns `bytes,seconds` or `size(kb),time(us)`.

    The latter are KiB and microseconds, as apex_plus writes them beside `gpu`, `num_nodes`, `num_gpus_per_node` and
    `dtype`. `where` takes the rows with a given text in a column; rows taken must agree in all other columns. Times of
    one size are averaged. Measured times that fall where sizes rise are noise: the rising times nearest in least
    squares take their place (isotonic regression; Barlow et al., Statistical Inference under Order Restrictions, 1972).
    """
    rows = _select(field, _rows(field, text), where or {})
    size = next((name for name in _COLUMNS if name in rows[0]), None)
    if size is None or (time := _COLUMNS[size][0]) not in rows[0]:
        raise InputError(field, "expected columns bytes,seconds or size(kb),time(us), got others")
    for name in set(rows[0]) - {size, time}:
        several = sorted({row[name] for row in rows})
        if len(several) > 1:
            raise InputError(
                field, f"expected one series, got {describe(several[0])} and {describe(several[1])} in {name}"
            )
    _, unit_bytes, unit_s = _COLUMNS[size]
    sizes, times = _column(field, rows, size) * unit_bytes, _column(field, rows, time) * unit_s
    distinct, group, count = np.unique(sizes, return_inverse=True, return_counts=True)
    return _curve(field, distinct, _fit_rising(np.bincount(group, times) / count, count.astype(np.int64)))


def curve_of_run(run: MeasuredCollective, field: str, nics: int | None = None) -> Curve:
    """Return the curve of the messages of which a measured collective is made, smoothed as times in CSV.

    Of n ranks each sends an n-th of a message 2 (n - 1) times for an all-reduce, and n - 1 times for a gather. Those of
    several hosts leave each by `nics` NICs at once, by default one for every rank.
    """
    steps = {"all-reduce": 2 * (run.ranks - 1), "gather": run.ranks - 1, "send": 1}[run.operation]
    width = 1 if run.hosts == 1 else nics or run.ranks // run.hosts
    part = 1 if run.operation == "send" else run.ranks * width
    sizes, times = np.array(run.size_bytes) / part, np.array(run.seconds) / steps
    return _curve(field, sizes, _fit_rising(times, np.ones(len(times), np.int64)))


def _rows(field: str, text: str) -> Rows:
    """Return the rows of a CSV text by column, at least one."""
    reader = csv.reader(text.splitlines(), strict=True, skipinitialspace=True)
    try:
        cells = [(reader.line_num, [word.strip() for word in words]) for words in reader]
    except csv.Error as error:
        raise InputError(field, f"expected CSV, got a fault: {error}") from None
    filled = [(line, words) for line, words in cells if any(words)]
    if len(filled) < 2 or len(set(filled[0][1])) < len(filled[0][1]):
        raise InputError(field, "expected a header of different columns and rows below it")
    (_, header), *body = filled
    for line, words in body:
        if len(words) != len(header):
            raise InputError(field, f"line {line}: expected {len(header)} values, got {len(words)}")
    return [dict(zip(header, words, strict=True)) for _, words in body]


def _select(field: str, rows: Rows, where: Mapping[str, str]) -> Rows:
    """Return the rows with the given texts in the given columns, at least one."""
    for name, wanted in where.items():
        if name not in rows[0]:
            raise InputError(field, f"expected a column {describe(name)}, got {', '.join(map(describe, rows[0]))}")
        known = sorted({row[name] for row in rows})
        rows = [row for row in rows if row[name] == wanted]
        if not rows:
            raise InputError(field, f"expected one of {', '.join(known)[:200]} in {name}, got {describe(wanted)}")
    return rows


def _fit_rising(times: FloatArray, weight: IntArray) -> FloatArray:
    """Return the non-decreasing times nearest in weighted least squares: pool adjacent violators, O(n)."""
    pools: list[tuple[float, float, int]] = []
    for time, mass in zip(times.tolist(), weight.tolist(), strict=True):
        mean, total, count = time, float(mass), 1
        while pools and pools[-1][0] > mean:
            before, heavy, many = pools.pop()
            mean = (before * heavy + mean * total) / (heavy + total)
            total, count = heavy + total, many + count
        pools.append((mean, total, count))
    return np.repeat([mean for mean, _, _ in pools], [count for _, _, count in pools])


def _column(field: str, rows: Rows, name: str) -> FloatArray:
    """Return the numbers of a column."""
    values = read_amounts(field, f"column {name}", [row[name] for row in rows])
    if values.max() > COST_LIMIT:
        raise InputError(field, f"column {name}: expected numbers up to {COST_LIMIT:g}, got {values.max():g}")
    return values


def _curve(field: str, sizes: FloatArray, times: FloatArray) -> Curve:
    """Return a curve; a fault in it is one of the field."""
    most = max(sizes.max(initial=0.0), times.max(initial=0.0))
    if most > COST_LIMIT:
        raise InputError(field, f"expected bytes and seconds up to {COST_LIMIT:g}, got {most:g}")
    steps = np.diff(sizes)
    if (np.diff(times)[steps > 0] > COST_LIMIT * steps[steps > 0]).any():
        raise InputError(field, f"expected times that rise by at most {COST_LIMIT:g} s a byte")
    try:
        return Curve(size_bytes=sizes, seconds=times)
    except InputError as error:
        raise InputError(field, error.reason) from None
