"""The cost of a placement of experts: its transitions, weighted by hops."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray


class ExpertProblem(NamedTuple):
    """Hold how many tokens `counts[L - 1, E, E]` go from expert to expert, and the weights `hops[G, G]` of devices.

    A placement `place[L, E]` gives each expert a device, and every device E / G experts of each layer.
    """

    counts: FloatArray
    hops: FloatArray

    @property
    def layers(self) -> int:
        """Return L, the number of layers."""
        return len(self.counts) + 1

    @property
    def experts(self) -> int:
        """Return E, the number of experts in a layer."""
        experts: int = self.counts.shape[1]
        return experts

    @property
    def devices(self) -> int:
        """Return G, the number of devices."""
        return len(self.hops)

    @property
    def slots_per_device(self) -> int:
        """Return E / G, the number of experts of a layer on each device."""
        return self.experts // self.devices


def hop_sum(problem: ExpertProblem, place: IntArray) -> float:
    """Return the sum of the weights of all hops that tokens make. O(L E^2)."""
    pairs = zip(problem.counts, place, place[1:], strict=False)
    return float(sum((counts * problem.hops[np.ix_(before, after)]).sum() for counts, before, after in pairs))


def device_costs(problem: ExpertProblem, place: IntArray, layer: int) -> FloatArray:
    """Return what each expert of a layer [E] would cost on each device [G], the layers beside it as they are."""
    costs = np.zeros((problem.experts, problem.devices))
    if layer:
        costs += problem.counts[layer - 1].T @ problem.hops[place[layer - 1]]
    if layer < problem.layers - 1:
        costs += problem.counts[layer] @ problem.hops[place[layer + 1]]
    return costs
