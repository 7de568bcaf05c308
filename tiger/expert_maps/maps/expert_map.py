"""A map from slots to experts, and the checks that its readers share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.expert_maps.replicas.loads import LAYERS_MAX, SLOTS_MAX, count_replicas
from tiger.model.arrays import IntArray, freeze
from tiger.model.wording import describe

# What is at fault in a file of a map; places in it follow.
FIELD = "map"


@dataclass(frozen=True, slots=True)
class ExpertMap:
    """Hold the expert of each slot, `phy2log` [layers, slots], where each of the GPUs has as many slots in order.

    Every expert from 0 to the largest has a slot in every layer. Raises InputError of `map`, a place in it or `gpus`.
    """

    phy2log: IntArray
    gpus: int

    def __post_init__(self) -> None:
        """Check that slots and experts fit."""
        try:
            found = np.asarray(self.phy2log)
        except ValueError as error:
            raise InputError(FIELD, "expected as many slots in every layer") from error
        if found.ndim != 2 or not found.size or found.dtype.kind not in "iu":
            raise InputError(FIELD, f"expected whole numbers [layers, slots], got {found.dtype} of shape {found.shape}")
        if found.shape[0] > LAYERS_MAX or found.shape[1] > SLOTS_MAX:
            raise InputError(FIELD, f"expected at most {LAYERS_MAX} x {SLOTS_MAX} slots, got shape {found.shape}")
        check_divisor("gpus", self.gpus, found.shape[1])
        object.__setattr__(self, "gpus", int(self.gpus))
        wrong = np.argwhere((found < 0) | (found >= found.shape[1]))
        if len(wrong):
            layer, slot = wrong[0].tolist()
            raise InputError(
                f"{FIELD}/{layer}/{slot}",
                f"expected an expert from 0 to {found.shape[1] - 1}, got {describe(int(found[layer, slot]))}",
            )
        object.__setattr__(self, "phy2log", freeze(found.astype(np.int64)))
        missing = np.argwhere(count_replicas(self.phy2log, self.experts) == 0)
        if len(missing):
            layer, expert = missing[0].tolist()
            raise InputError(
                f"{FIELD}/{layer}", f"expected a slot for each of {self.experts} experts, got none for {expert}"
            )

    @property
    def experts(self) -> int:
        """Return the number of experts of a layer."""
        return int(self.phy2log.max()) + 1


def check_divisor(field: str, value: object, slots: int) -> None:
    """Raise InputError of a field for anything but a divisor of the slots of a layer."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1 or slots % value:
        raise InputError(field, f"expected a divisor of {slots} slots, got {describe(value)}")


def read_object(value: object, field: str) -> dict[str, object]:
    """Return an object, or raise InputError of its field."""
    if not isinstance(value, dict):
        raise InputError(field, f"expected an object, got {describe(value)}")
    return value


def read_list(value: object, field: str) -> list[object]:
    """Return a list of at least one item and no more than a layer has slots, or raise InputError of its field."""
    if not isinstance(value, list) or not 1 <= len(value) <= SLOTS_MAX:
        got = f"{len(value)} items" if isinstance(value, list) else describe(value)
        raise InputError(field, f"expected a list of 1 to {SLOTS_MAX} items, got {got}")
    return value


def read_number(value: object, field: str) -> int:
    """Return a whole number from 0 to the most slots, or raise InputError of its field."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= SLOTS_MAX:
        raise InputError(field, f"expected a whole number from 0 to {SLOTS_MAX}, got {describe(value)}")
    return value


def read_rows(value: object, field: str) -> list[list[int]]:
    """Return lists of whole numbers, all of one length, or raise InputError of the place at fault."""
    rows = [
        [read_number(item, f"{field}/{k}/{j}") for j, item in enumerate(read_list(row, f"{field}/{k}"))]
        for k, row in enumerate(read_list(value, field))
    ]
    check_lengths(rows, field)
    return rows


def check_lengths(rows: Sequence[Sequence[int]], field: str) -> None:
    """Raise InputError for the first row that is not as long as the first."""
    for k, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InputError(f"{field}/{k}", f"expected {len(rows[0])} items, as in the first, got {len(row)}")
