"""GPUs that share a set of experts: those of one node in one layer, or of all nodes where groups play no part."""

from typing import NamedTuple

from tiger.model.arrays import FloatArray


class Pools(NamedTuple):
    """Hold the loads of the experts of each pool, `weight` [pools, experts], and the GPUs that all pools have alike.

    A GPU has `size` slots, of which at most `copies` hold replicas of one expert.
    """

    weight: FloatArray
    gpus: int
    size: int
    copies: int

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
