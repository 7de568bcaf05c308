"""What nccl-tests print: the time of a collective by size, among the ranks of one run.

Lines that begin with # are a header: `nThread 1 nGpus 8`, one line a rank where the host prints them, and the names of
the columns, of which the first `size`, `redop`, `time`, `algbw` and `busbw` count (out of place). Times are
microseconds. Bus bandwidth is the algorithm's times 2 (n - 1) / n for an all-reduce of n ranks, (n - 1) / n for an
all-gather, a reduce-scatter or an all-to-all, and 1 between two of them (nccl-tests, doc/PERFORMANCE.md).
"""

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from tiger.errors import InputError
from tiger.model.text import is_number
from tiger.model.wording import describe

Operation = Literal["all-reduce", "gather", "send"]
_THREADS = re.compile(r"nThread\s+(\d{1,6})\s+nGpus\s+(\d{1,6})")
_RANK = re.compile(r"#\s+Rank\s+\d+ .*?\bon\s+(\S+)")
COLUMNS = ("size", "time", "algbw", "busbw")
# Printed figures have three digits or more.
PRINTED = 0.02
# The most rows of a run, beyond any doubling of sizes.
ROW_LIMIT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCollective:
    """Hold an operation among so many `ranks` on so many `hosts`: seconds of messages in bytes."""

    operation: Operation
    ranks: int
    hosts: int
    size_bytes: tuple[float, ...]
    seconds: tuple[float, ...]


def is_output(text: str) -> bool:
    """Return whether a text is what nccl-tests print."""
    return _find_columns(text) is not None


def read_output(text: str, field: str) -> MeasuredCollective:
    """Return what a run measured; raise InputError of the field for none, for several, and for a malformed line."""
    columns = _find_columns(text)
    if columns is None:
        raise InputError(field, f"expected what nccl-tests print, got no line with {', '.join(COLUMNS)}")
    rows = [
        (number, line.split())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#") and is_number(line.split()[0])
    ]
    if len(rows) > ROW_LIMIT:
        raise InputError(field, f"expected at most {ROW_LIMIT:,} sizes, got {len(rows):,}")
    figures = [[_number(field, number, words, columns[name]) for name in COLUMNS] for number, words in rows]
    if len(figures) < 2:
        raise InputError(field, f"expected two sizes or more, got {len(figures)}")
    if any(before[0] >= after[0] for before, after in pairwise(figures)):
        raise InputError(field, "expected one run, whose sizes rise, got sizes that fall")
    ranks, hosts = _count_ranks(text, field)
    summed = "redop" in columns and any(words[columns["redop"]] != "none" for _, words in rows)
    return MeasuredCollective(
        operation=_operation(field, figures[-1], ranks, summed=summed),
        ranks=ranks,
        hosts=hosts,
        size_bytes=tuple(row[0] for row in figures),
        seconds=tuple(row[1] * 1e-6 for row in figures),
    )


def _find_columns(text: str) -> dict[str, int] | None:
    """Return the first place of each column, None where no line names them."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["#"] and set(COLUMNS) <= set(words):
            return {name: words[1:].index(name) for name in dict.fromkeys(words[1:])}
    return None


def _count_ranks(text: str, field: str) -> tuple[int, int]:
    """Return the number of ranks and of their hosts: those listed, else as many as threads have devices."""
    listed = _RANK.findall(text)
    if listed:
        return len(listed), len(set(listed))
    match = _THREADS.search(text)
    ranks = int(match[1]) * int(match[2]) if match else 0
    if ranks < 2:
        raise InputError(field, f"expected two ranks or more in the lines that begin with #, got {ranks}")
    return ranks, 1


def _number(field: str, number: int, words: list[str], column: int) -> float:
    """Return a figure of a line."""
    word = words[column] if column < len(words) else "none"
    if not is_number(word) or not 0 <= float(word) < math.inf:
        raise InputError(field, f"line {number}: expected a number in column {column + 1}, got {describe(word)}")
    return float(word)


def _operation(field: str, row: list[float], ranks: int, *, summed: bool) -> Operation:
    """Return the operation by the ratio of bandwidths; an all-reduce of two ranks and a message have the same."""
    _, _, algorithm, bus = row
    part = (ranks - 1) / ranks
    known: list[tuple[Operation, float]] = [("gather", part), ("send", 1.0), ("all-reduce", 2 * part)]
    fitting = [each for each in known if math.isclose(bus, each[1] * algorithm, rel_tol=PRINTED)]
    if not fitting:
        what = f"expected a bus bandwidth of an operation among {ranks} ranks"
        raise InputError(field, f"{what}, got {bus:g} beside an algorithm bandwidth of {algorithm:g}")
    name, _ = min(fitting, key=lambda each: abs(bus - each[1] * algorithm))
    return "all-reduce" if summed and ranks == 2 and name == "send" else name
