"""Couplers in order, of models that do not fit into memory."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Self

import numpy as np

from tiger.model.arrays import IntArray
from tiger.qubo.encode import QuadraticTerms

# Couplers sorted at a time, about 0.4 GB of memory.
PART = 1 << 22
# Couplers read at a time: their text, and the numbers that it is made of, take about 50 MB.
SLICE = 1 << 18
RECORD = np.dtype([("row", np.int64), ("col", np.int64), ("value", np.float64)])


class SortedCouplers:
    """Sort couplers that come in any order, and add up those of one pair, by files of a range of variables each.

    Temporary files hold 24 bytes of each coupler that comes. Those whose values add up to 0 are left out.
    """

    def __init__(self, counts: IntArray) -> None:
        """Divide the first variables by how many couplers `counts[v]` come of each."""
        total = np.cumsum(counts)
        parts = max(-(-int(total[-1] if len(total) else 0) // PART), 1)
        self._size, self._bounds = len(counts), np.searchsorted(total, PART * np.arange(1, parts), side="left") + 1
        self._files: list[IO[bytes]] = []
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        """Open the files."""
        for _ in range(len(self._bounds) + 1):
            self._files.append(self._opened.enter_context(tempfile.TemporaryFile()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the files."""
        self._opened.close()

    def add(self, parts: Iterable[QuadraticTerms]) -> None:
        """Take couplers."""
        for terms in parts:
            records = np.empty(len(terms.row), RECORD)
            records["row"], records["col"], records["value"] = terms
            file = np.searchsorted(self._bounds, terms.row, side="right")
            order = np.argsort(file, kind="stable")
            ends = np.cumsum(np.bincount(file, minlength=len(self._files)))[:-1]
            for target, some in zip(self._files, np.split(records[order], ends), strict=True):
                target.write(some.tobytes())

    def merge(self) -> int:
        """Sort what has come and add up the couplers of a pair; return how many are left."""
        count = 0
        for file in self._files:
            file.seek(0)
            records = np.frombuffer(file.read(), RECORD)
            key, pair = np.unique(records["row"] * np.int64(self._size) + records["col"], return_inverse=True)
            value = np.bincount(pair, records["value"], len(key))
            merged = np.empty(int(np.count_nonzero(value)), RECORD)
            merged["row"], merged["col"] = np.divmod(key[value != 0], max(self._size, 1))
            merged["value"] = value[value != 0]
            file.seek(0)
            file.truncate()
            file.write(merged.tobytes())
            count += len(merged)
        return count

    def __iter__(self) -> Iterator[QuadraticTerms]:
        """Yield all couplers that are merged by their first and second variable, a slice at a time."""
        for file in self._files:
            file.seek(0)
            while content := file.read(SLICE * RECORD.itemsize):
                records = np.frombuffer(content, RECORD)
                yield QuadraticTerms(records["row"], records["col"], records["value"])
