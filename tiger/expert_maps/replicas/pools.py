"""GPUs that share a set of experts: those of one node in one layer, or of all nodes where groups play no part."""

from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray, lock

# The speed of GPUs that are all as fast: times are then loads.
ALIKE = lock(np.ones((1, 1)))


class Pools(NamedTuple):
    """Hold the loads of the experts of each pool, `weight` [pools, experts], and the GPUs that all pools have alike.

    A GPU has `size` slots, of which at most `copies` hold replicas of one expert. It takes its load over its `speed`,
    [pools, GPUs] or one row for all pools, 1 by default, as its time.
    """

    weight: FloatArray
    gpus: int
    size: int
    copies: int
    speed: FloatArray = ALIKE

    @property
    def experts(self) -> int:
        """Return the number of experts of a pool."""
        return int(self.weight.shape[1])

    @property
    def slots(self) -> int:
        """Return the number of slots of a pool."""
        return self.gpus * self.size

    @property
    def most(self) -> int:
        """Return the most replicas that an expert can have."""
        return min(self.gpus * self.copies, self.slots - self.experts + 1)

    @property
    def alike(self) -> bool:
        """Return whether the GPUs of every pool are as fast as each other, and as those of all others."""
        return bool((self.speed == self.speed.flat[0]).all())

    @property
    def speeds(self) -> FloatArray:
        """Return the speed of every GPU, [pools, GPUs]."""
        return np.broadcast_to(self.speed, (len(self.weight), self.gpus))

    def take(self, rows: IntArray | BoolArray | slice) -> Self:
        """Return some of the pools."""
        return self._replace(weight=self.weight[rows], speed=self.speed if len(self.speed) == 1 else self.speed[rows])
