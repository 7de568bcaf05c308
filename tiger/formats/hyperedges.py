"""Hyperedges as parsed JSON, checked value by value."""

from collections.abc import Mapping

import numpy as np

from tiger.errors import InputError
from tiger.formats.attributes import HYPEREDGE, find_misspelt
from tiger.model.hyperedges import Hyperedges
from tiger.model.values import check_amount, check_records, read_name
from tiger.model.wording import describe


def read_hyperedges(data: object, field: str, index: Mapping[str, int]) -> Hyperedges:
    """Return hyperedges given as `[{"tasks": [id, ..], "volume": v}, ..]`, the volume 1 where there is none.

    `index` has the number of every task by name. Raises InputError with a pointer below `field`.
    """
    records = check_records(field, data)
    if not records:
        raise InputError(field, "expected at least one hyperedge, got none")
    sets = [_read_set(f"{field}/{k}/tasks", record.get("tasks"), index) for k, record in enumerate(records)]
    volumes = [check_amount(f"{field}/{k}/volume", record.get("volume", 1)) for k, record in enumerate(records)]
    return Hyperedges(
        starts=np.cumsum([0, *map(len, sets)]),
        pins=np.array([task for tasks in sets for task in tasks], np.int64),
        volumes=np.array(volumes),
    )


def list_misspelt(data: object, field: str) -> tuple[str, ...]:
    """Return remarks on attributes of hyperedges that look misspelt."""
    return find_misspelt(field, check_records(field, data), HYPEREDGE)


def _read_set(field: str, tasks: object, index: Mapping[str, int]) -> list[int]:
    """Return the different tasks of one hyperedge."""
    if not isinstance(tasks, list) or not tasks:
        got = "an empty list" if tasks == [] else describe(tasks)
        raise InputError(field, f"expected a list of at least one task, got {got}")
    found: dict[int, int] = {}
    for position, identity in enumerate(tasks):
        name = read_name(f"{field}/{position}", identity)
        if name not in index:
            raise InputError(f"{field}/{position}", f"expected the id of a node, got {describe(name)}")
        if found.setdefault(index[name], position) != position:
            raise InputError(f"{field}/{position}", f"expected different tasks, got {describe(name)} twice")
    return list(found)
