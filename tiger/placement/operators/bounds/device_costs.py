"""What a group costs at least on a device of each type, wherever all other groups are."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.placement.operators.terms import Terms
from tiger.training.costs.tolerances import TOO_LARGE
from tiger.training.hardware.cluster import NO_LINK


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceTypeCosts:
    """Hold g device types, of which there are `count[g]`, for C groups and n operators.

    `work[g, c]` are the seconds of a group there, `paid[g, u]` what a device of the type pays at least for the output
    of operator u where it sends it away or receives it. `allowed[g, c]` says whether a group may go there and fits in
    `capacity[g]` by itself.
    """

    count: IntArray
    work: FloatArray
    paid: FloatArray
    allowed: BoolArray
    capacity: FloatArray

    @property
    def size(self) -> int:
        """Return g."""
        return len(self.count)

    @classmethod
    def of(cls, terms: Terms) -> Self:
        """Return the costs of device types, in the order of the first device of each; O(k n)."""
        types: dict[tuple[object, ...], list[int]] = {}
        for device in range(terms.devices):
            types.setdefault((*_traits(terms, device), *_curves(terms, device)), []).append(device)
        first = [devices[0] for devices in types.values()]
        room = terms.capacity[first] * (1 + TOO_LARGE)
        return cls(
            count=np.array([len(devices) for devices in types.values()], np.int64),
            work=np.array([np.bincount(terms.group_of, terms.work[device], terms.groups) for device in first]),
            paid=np.array([_least_paid_s(terms, device) for device in first]),
            allowed=terms.allowed[:, first].T & (terms.memory <= room[:, None]),
            capacity=room,
        )


def _traits(terms: Terms, device: int) -> tuple[object, ...]:
    """Return what tells the type of a device, apart from its links, as a key."""
    own = terms.work[device].tobytes(), terms.allowed[:, device].tobytes()
    return *own, float(terms.capacity[device]), float(terms.pays[device])


def _curves(terms: Terms, device: int) -> list[int]:
    """Return the curves of the links of a device."""
    curves: list[int] = np.unique(terms.link[device]).tolist()
    return [curve for curve in curves if curve != NO_LINK]


def _least_paid_s(terms: Terms, device: int) -> FloatArray:
    """Return what a device pays at least for what each operator sends between it and any other [n]."""
    if terms.pays[device] == 0:
        return np.zeros(terms.operators)
    curves = _curves(terms, device)
    least: FloatArray = terms.send[curves].min(axis=0) if curves else np.full(terms.operators, np.inf)
    return least
