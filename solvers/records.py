"""Numbers that compiled functions read and write by name: arrays of records with the fields of a class."""

from collections.abc import Sequence
from typing import TypeVar, cast, get_type_hints

import numpy as np

Fields = TypeVar("Fields")
TYPES = {int: np.int64, float: np.float64}
# The types of records by the classes of their fields.
RECORD_TYPES: dict[type[object], np.dtype[np.void]] = {}


def allocate_records(fields: type[Fields], count: int = 1) -> Sequence[Fields]:
    """Return `count` records of zeros with the annotated fields of a class, each an int or a float of 64 bits.

    A numpy record array: `records[k].name` reads and writes in Python and in functions compiled by numba.
    """
    if fields not in RECORD_TYPES:
        RECORD_TYPES[fields] = np.dtype([(name, TYPES[kind]) for name, kind in get_type_hints(fields).items()])
    return cast("Sequence[Fields]", np.zeros(count, RECORD_TYPES[fields]).view(np.recarray))
