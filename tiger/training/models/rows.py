"""Lists of objects in documents, read column by column, as there may be hundreds of thousands."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.values import read_name, suggest_name
from tiger.model.wording import describe
from tiger.training.hardware.limits import COST_LIMIT
from tiger.training.models.limits import check_cost

Id = int | str
_ABSENT = object()


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Hold the n objects of a list, and the field that it is; every key of theirs is known, none that must be missing.

    What is wrong with a value raises InputError, with row k as `field/k`.
    """

    field: str
    records: Sequence[Mapping[str, object]]

    @classmethod
    def check(cls, field: str, value: object, keys: tuple[Sequence[str], Sequence[str]]) -> Self:
        """Return the rows of a list of objects with `keys` that they must have, and that they may have."""
        if not isinstance(value, list):
            raise InputError(field, f"expected a list, got {'nothing' if value is None else describe(value)}")
        required, known = keys[0], {*keys[0], *keys[1]}
        odd = next((k for k, row in enumerate(value) if not isinstance(row, dict)), None)
        if odd is not None:
            raise InputError(
                f"{field}/{odd}", f"expected an object with {', '.join(required)}, got {describe(value[odd])}"
            )
        if not set().union(*value) <= known:
            k, key = next((k, key) for k, row in enumerate(value) for key in row if key not in known)
            wanted = f"expected keys out of {', '.join((*keys[0], *keys[1]))}"
            raise InputError(f"{field}/{k}", f"{wanted}, got {describe(key)}{suggest_name(key, known)}")
        for key in required:
            lacking = next((k for k, row in enumerate(value) if key not in row), None)
            if lacking is not None:
                raise InputError(f"{field}/{lacking}/{key}", "expected a value, got none")
        return cls(field, value)

    def numbers(self, key: str, default: float = 0.0) -> FloatArray:
        """Return the finite numbers >= 0 under a key."""
        column = [row.get(key, default) for row in self.records]
        with suppress(OverflowError):
            if set(map(type, column)) <= {int, float}:
                values = np.array(column, np.float64)
                if ((values >= 0) & (values <= COST_LIMIT)).all():
                    return values
        return np.array([check_cost(f"{self.field}/{k}/{key}", value) for k, value in enumerate(column)], np.float64)

    def marks(self, key: str, *, default: bool) -> BoolArray:
        """Return the truth values under a key, which may be written 0 and 1."""
        column = [row.get(key, default) for row in self.records]
        for k, value in enumerate(column):
            if type(value) is not bool and not (type(value) is int and 0 <= value <= 1):
                raise InputError(f"{self.field}/{k}/{key}", f"expected true or false, got {describe(value)}")
        return np.array(column, np.bool_)

    def ids(self, key: str) -> tuple[dict[Id, int], tuple[str, ...]]:
        """Return the row of every id under a key, and the ids as names, of which no two are alike."""
        column = self._words(key)
        names = tuple([read_name(f"{self.field}/{k}/{key}", word) for k, word in enumerate(column)])
        seen: set[str] = set()
        for k, name in enumerate(names):
            if not name or name in seen:
                what = f"expected different names, got {describe(name)} twice" if name else "expected a name, got none"
                raise InputError(f"{self.field}/{k}/{key}", what)
            seen.add(name)
        return dict(zip(column, range(len(column)), strict=True)), names

    def ends(self, key: str, rows: Mapping[Id, int]) -> IntArray:
        """Return the rows of the ids under a key."""
        column = self._words(key)
        found = list(map(rows.get, column))
        if None in found:
            k = found.index(None)
            raise InputError(f"{self.field}/{k}/{key}", f"expected the id of a node, got {describe(column[k])}")
        return np.array(found, np.int64)

    def number_groups(self, key: str) -> IntArray:
        """Return a number for every row, the same for those with the same label under a key."""
        column = [row.get(key, _ABSENT) for row in self.records]
        first: dict[object, int] = {}
        for k, label in enumerate(column):
            if label is not _ABSENT and type(label) not in (int, str):
                raise InputError(f"{self.field}/{k}/{key}", f"expected a whole number or text, got {describe(label)}")
        return np.array(
            [k if label is _ABSENT else first.setdefault(label, k) for k, label in enumerate(column)], np.int64
        )

    def _words(self, key: str) -> list[Id]:
        """Return the whole numbers and texts under a key."""
        column: list[Id] = []
        for k, row in enumerate(self.records):
            value = row[key]
            # Not isinstance: True is no id.
            if type(value) is not int and type(value) is not str:
                raise InputError(f"{self.field}/{k}/{key}", f"expected a whole number or text, got {describe(value)}")
            column.append(value)
        return column
