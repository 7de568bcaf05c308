"""GPUs that share a set of experts: those of one node in one layer, or of all nodes where groups play no part."""

from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray, lock

# The speed of GPUs that are all as fast: times are then loads.
ALIKE = lock(np.ones((1, 1)))


class Pools(NamedTuple):
    """Hold the loads of the experts of each pool, `weight` [pools, experts], and the GPUs that all pools have alike.

    A GPU has `size` slots, of which at most `copies` hold replicas of one expert. It takes its load over its `speed`,
    [pools, GPUs] or one row for all pools, 1 by default, as its time. Where GPUs have fewer slots, `room` [pools, GPUs]
    says how many; of `padded` pools, the last expert has no load and stands in all slots beyond.
    """

    weight: FloatArray
    gpus: int
    size: int
    copies: int
    speed: FloatArray = ALIKE
    room: IntArray | None = None
    padded: bool = False

    @property
    def experts(self) -> int:
        """Return the number of experts of a pool."""
        return int(self.weight.shape[1])

    @property
    def slots(self) -> int:
        """Return the number of slots of a pool."""
        return self.gpus * self.size if self.room is None else int(self.room[0].sum())

    @property
    def most(self) -> int:
        """Return the most replicas that an expert can have."""
        return min(self.gpus * self.copies, self.slots - self.experts + 1)

    @property
    def alike(self) -> bool:
        """Return whether all GPUs are as fast as each other, and have as many slots."""
        return self.room is None and bool((self.speed == self.speed.flat[0]).all())

    @property
    def speeds(self) -> FloatArray:
        """Return the speed of every GPU, [pools, GPUs]."""
        return np.broadcast_to(self.speed, (len(self.weight), self.gpus))

    @property
    def rooms(self) -> IntArray:
        """Return the slots of every GPU, [pools, GPUs]."""
        return np.full((len(self.weight), self.gpus), self.size) if self.room is None else self.room

    @property
    def fewest(self) -> int:
        """Return the slots that every GPU has."""
        return self.size if self.room is None else int(self.room.min())

    @property
    def blank(self) -> int:
        """Return the expert that stands where a GPU has no slot, -1 where there is none."""
        return self.experts - 1 if self.padded else -1

    def pad(self) -> Self:
        """Return the pools with an expert that stands where GPUs have no slot; themselves where all have as many."""
        if self.room is None:
            return self
        return self._replace(weight=np.pad(self.weight, ((0, 0), (0, 1))), padded=True)

    def take(self, rows: IntArray | BoolArray | slice) -> Self:
        """Return some of the pools."""
        speed = self.speed if len(self.speed) == 1 else self.speed[rows]
        return self._replace(weight=self.weight[rows], speed=speed, room=None if self.room is None else self.room[rows])
