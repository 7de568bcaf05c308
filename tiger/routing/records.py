"""Numbers that compiled functions read and write by name: arrays of records with the fields of a class."""

from collections.abc import Sequence
from typing import TypeVar, cast, get_type_hints

import numpy as np

Fields = TypeVar("Fields")
TYPES = {int: np.int64, float: np.float64}


def allocate_records(fields: type[Fields], count: int = 1) -> Sequence[Fields]:
    """Return `count` records of zeros with the annotated fields of a class, each an int or a float of 64 bits.

    A numpy record array: `records[k].name` reads and writes in Python and in functions compiled by numba.
    """
    dtype = np.dtype([(name, TYPES[kind]) for name, kind in get_type_hints(fields).items()])
    return cast("Sequence[Fields]", np.zeros(count, dtype).view(np.recarray))
