"""How many slots each device has in each layer: as many as others, or in proportion to speed, and what memory holds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.units import bytes_text
from tiger.model.violation import Violation
from tiger.model.wording import describe

# Quotients that are below a whole number by less are that number.
SLACK = 1e-12
# Halvings of the range of the slots that a device of speed 1 gets: what is left is below one slot.
HALVINGS = 100
# So many amounts of memory are listed where experts do not fit.
KINDS = 4


class SlotDemand(NamedTuple):
    """Hold what slots are for: `layers` of `slots` each, at most `most` of a layer on a device, in parts `shares` [G].

    A replica takes `expert_bytes` of the `memory_bytes` [G] that devices have for all layers together.
    """

    layers: int
    slots: int
    most: int
    shares: FloatArray
    expert_bytes: float
    memory_bytes: FloatArray

    @property
    def capacity(self) -> IntArray:
        """Return how many slots of all layers together fit into the memory of each device, [G], and are of use."""
        most = self.layers * self.most
        if not self.expert_bytes:
            return np.full(len(self.shares), most)
        fitting = np.maximum(self.memory_bytes, 0.0) / self.expert_bytes
        return np.minimum(np.floor(fitting * (1 + SLACK)), most).astype(np.int64)


def share_slots(demand: SlotDemand) -> IntArray | None:
    """Return the slots of each device in each layer, [layers, G], None where memory does not hold as many.

    They are in parts of the shares, the same in all layers, if memory holds these. Otherwise all layers are shared out
    together, up to what memory holds, and then divided so that a device has as many slots in each, or one more.
    """
    capacity, needed = demand.capacity, demand.layers * demand.slots
    if capacity.sum() < needed:
        return None
    each = _share(demand.shares, np.full(len(capacity), demand.most), demand.slots)
    if (each * demand.layers <= capacity).all():
        return np.tile(each, (demand.layers, 1))
    return _divide_among_layers(_share(demand.shares, capacity, needed), demand.layers)


def _share(shares: FloatArray, capacity: IntArray, needed: int) -> IntArray:
    """Return how many of the slots that are needed each device gets, [G]: those in which the largest part is least.

    The slots that whole parts leave go one by one to the device that then has least for its share (Jefferson's method).
    """
    low, high = 0.0, needed / float(shares.min())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = np.minimum(shares * middle, capacity).sum() >= needed
        low, high = (low, middle) if enough else (middle, high)
    total = np.floor(np.minimum(shares * high, capacity) * (1 + SLACK)).astype(np.int64)
    for _ in range(needed - int(total.sum())):
        total[np.where(total < capacity, (total + 1) / shares, np.inf).argmin()] += 1
    return total


def _divide_among_layers(total: IntArray, layers: int) -> IntArray:
    """Return the slots of devices in layers, [layers, G]: all layers have as many, and a device, to one, in each."""
    each, more = np.divmod(total, layers)
    # One layer after another gets one more, device by device and round and round, so that all get as many.
    first = np.cumsum(more) - more
    turn = (np.arange(layers)[:, None] - first) % layers
    return np.asarray(each + (turn < more))


def explain_lack(demand: SlotDemand) -> Violation:
    """Return why memory does not hold all slots, in numbers."""
    needed, capacity = demand.layers * demand.slots, demand.capacity
    size = bytes_text(demand.expert_bytes)
    kinds = [
        f"{(demand.memory_bytes == memory).sum()} x {_memory_text(memory)} for {capacity[first]:,} each"
        for memory, first in _list_memories(demand)
    ]
    text = (
        f"{demand.slots} replicas of {size} in each of {demand.layers} layers, {needed:,} in all, take "
        f"{bytes_text(needed * demand.expert_bytes)}, and devices have room for {capacity.sum():,}: "
    )
    return Violation(kind="memory", message=text + ", ".join(kinds[:KINDS]) + (", .." if len(kinds) > KINDS else ""))


def _list_memories(demand: SlotDemand) -> list[tuple[float, int]]:
    """Return how much memory devices have, the most first, each with a device that has it."""
    memory, first = np.unique(demand.memory_bytes, return_index=True)
    return list(zip(memory.tolist(), first.tolist(), strict=True))[::-1]


def explain_equal_lack(demand: SlotDemand, names: Sequence[str]) -> Violation | None:
    """Return which device does not hold as many slots as all others, None where all do."""
    each = demand.layers * demand.slots // len(names)
    short = np.flatnonzero(demand.capacity < each)
    if not short.size:
        return None
    worst = int(short[demand.capacity[short].argmin()])
    need = bytes_text(each * demand.expert_bytes)
    text = (
        f"{describe(names[worst])} has {_memory_text(demand.memory_bytes[worst])} for {each:,} replicas of "
        f"{bytes_text(demand.expert_bytes)}, {need}; groups and maps in use need as many slots on every device"
    )
    return Violation(kind="memory", message=text)


def _memory_text(size: float) -> str:
    """Return the memory that a device has for experts."""
    return bytes_text(max(size, 0.0)) if np.isfinite(size) else "any memory"
