"""The seconds of stages by costs of layers and slowdowns of devices, and the best cuts at an order of devices."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.chain.fitting_runs import fitting_ends
from tiger.rebalancing.cut_solver import CutProgram
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


class DeviceCuts(NamedTuple):
    """Hold the p + 1 cuts of p stages, and the device of each."""

    cuts: tuple[int, ...]
    devices: tuple[int, ...]


class LayerCosts(NamedTuple):
    """Hold the seconds `ahead_s[.., L + 1]` of the first layers, and `slowdown[.., n]`, the factor of n devices.

    Leading axes are alternatives.
    """

    ahead_s: FloatArray
    slowdown: FloatArray

    @classmethod
    def of(cls, layer_s: FloatArray, slowdown: FloatArray) -> Self:
        """Return the costs of layers [.., L]."""
        ahead_s = np.zeros((*layer_s.shape[:-1], layer_s.shape[-1] + 1))
        np.cumsum(layer_s, axis=-1, out=ahead_s[..., 1:])
        return cls(ahead_s, slowdown)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FixedCosts:
    """Hold the costs that no measurement changes: messages and memory, for L layers on n devices.

    `sent_s[n, n, L + 1]` are the seconds of messages both ways over a boundary from device to device, infinite without
    a link; `last[n, L + 1]` is the largest end of a run of layers, by its start, that a device can hold.
    """

    sent_s: FloatArray
    last: IntArray

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster) -> Self:
        """Return the terms of a model on a cluster."""
        sent = [
            [2 * cluster.seconds(a, b, layers.crossing_bytes) for b in range(cluster.size)] for a in range(cluster.size)
        ]
        return cls(
            sent_s=np.array(sent, np.float64),
            last=np.array([fitting_ends(layers, room, 0.0) for room in cluster.memory_bytes.tolist()], np.int64),
        )

    def messages_s(self, lines: list[DeviceCuts]) -> FloatArray:
        """Return the seconds of messages [m, p] at the stages of m lines of p stages each."""
        cuts, devices = arrays(lines)
        inner = self.sent_s[devices[:, :-1], devices[:, 1:], cuts[:, 1:-1]]
        return np.asarray(np.pad(inner, ((0, 0), (1, 0))) + np.pad(inner, ((0, 0), (0, 1))))

    def feasible_lines(self, lines: list[DeviceCuts]) -> list[DeviceCuts]:
        """Return the lines of p stages, of those given, that fit into memory and have links."""
        if not lines:
            return []
        cuts, devices = arrays(lines)
        fits = (self.last[devices, cuts[:, :-1]] >= cuts[:, 1:]).all(axis=1)
        fits &= np.isfinite(self.messages_s(lines)).all(axis=1)
        return [lines[k] for k in np.flatnonzero(fits).tolist()]

    def loads_s(self, costs: LayerCosts, lines: list[DeviceCuts]) -> FloatArray:
        """Return the seconds [.., m, p] of the stages of m lines of p stages each."""
        cuts, devices = arrays(lines)
        passed = costs.ahead_s[..., cuts[:, 1:]] - costs.ahead_s[..., cuts[:, :-1]]
        return np.asarray(passed * costs.slowdown[..., devices] + self.messages_s(lines))

    def bottlenecks_s(self, costs: LayerCosts, lines: list[DeviceCuts]) -> FloatArray:
        """Return the largest load [.., m] of each of m lines of p stages each."""
        return np.asarray(self.loads_s(costs, lines).max(axis=-1))

    def best_cuts(
        self, costs: LayerCosts, devices: tuple[int, ...], below_s: float = np.inf
    ) -> tuple[float, DeviceCuts] | None:
        """Return the least bottleneck of an order of p devices and a line that has it, None if none is below a limit.

        Exact.
        """
        order = list(devices)
        inner = self.sent_s[order[:-1], order[1:]]
        program = CutProgram(
            ahead_s=costs.ahead_s,
            slowdown=costs.slowdown[order],
            received_s=np.pad(inner, ((1, 0), (0, 0))),
            sent_s=np.pad(inner, ((0, 1), (0, 0))),
            last=self.last[order],
        )
        found = program.least_bottleneck(below_s)
        return None if found is None else (found[0], DeviceCuts(found[1], devices))


def arrays(lines: list[DeviceCuts]) -> tuple[IntArray, IntArray]:
    """Return the cuts [m, p + 1] and the devices [m, p] of lines."""
    cuts, devices = zip(*lines, strict=True)
    return np.array(cuts, np.int64), np.array(devices, np.int64)
