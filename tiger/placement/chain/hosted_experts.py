"""Experts of some layers on the CPU: what that costs a run of layers, and the quickest line with it."""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.placement.chain.layered_graph import LayeredGraph
from tiger.training.costs.tolerances import MEMORY
from tiger.training.hardware.cluster import NO_LINK, Cluster
from tiger.training.models.layers import Layers

# What is left of a need is rounding below this share of it.
ROUNDING = 1e-12
# Decimal places to which the costs of layers are told apart.
PLACES = 10


class RunCosts(NamedTuple):
    """Hold the seconds [L + 1, L + 1] of layers i .. j - 1 on a device, and the units of the host that they take.

    Seconds are infinite where layers do not fit even with all of their experts elsewhere.
    """

    seconds: FloatArray
    units: IntArray


class HostedLine(NamedTuple):
    """Hold the owners of q stages and the q + 1 cuts between them, and their latency."""

    owners: tuple[int, ...]
    cuts: tuple[int, ...]
    latency_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpertNeeds:
    """Hold what each of L layers adds in seconds and frees in bytes where its experts are on the host.

    `state_bytes[L + 1, L + 1]` are those of layers i .. j - 1. Layers without experts add infinitely much.
    """

    added_s: FloatArray
    freed_bytes: FloatArray
    state_bytes: FloatArray
    room_bytes: float

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, device: int, host: int) -> Self:
        """Return the needs of layers, with a forward pass alone, on a device beside the host."""
        added = added_seconds(layers, cluster, device, host)
        return cls(
            added_s=added,
            freed_bytes=np.where(np.isfinite(added), expert_bytes_of(layers), 0.0),
            state_bytes=run_bytes(layers),
            room_bytes=float(cluster.memory_bytes[device]) * (1 + MEMORY),
        )

    @property
    def free_alike(self) -> bool:
        """Return whether the experts of all layers that have some free as much: then the cheapest few are the best."""
        return _are_equal(self.freed_bytes[self.freed_bytes > 0])

    def choose(self, begin: int, end: int) -> tuple[int, ...]:
        """Return the layers of a run whose experts go to the host, at the least cost: the first ones of equals.

        A knapsack, solved exactly. Those that are quicker there go in any case.
        """
        need = max(float(self.state_bytes[begin, end]) - self.room_bytes, 0.0)
        some = begin + np.flatnonzero(self.freed_bytes[begin:end])
        gaining = some[self.added_s[some] < 0]
        rest = some[self.added_s[some] >= 0]
        need -= float(self.freed_bytes[gaining].sum())
        chosen = gaining.tolist()
        if need > 0:
            chosen += self._cover(rest, need)
        return tuple(sorted(chosen))

    def _cover(self, some: IntArray, need: float) -> list[int]:
        """Return layers that free as many bytes at the least sum of seconds."""
        freed, added = self.freed_bytes[some], self.added_s[some]
        if self.free_alike:
            count = int(np.ceil(need / freed[0] * (1 - ROUNDING)))
            # Of those that differ by rounding alone the first ones.
            rounded = np.round(added / max(float(added.max()), np.finfo(np.float64).tiny), PLACES)
            return [int(layer) for layer in some[np.argsort(rounded, kind="stable")[:count]]]
        from scipy.optimize import Bounds, LinearConstraint, milp

        covered = LinearConstraint(freed / need, lb=1 - ROUNDING)
        found = milp(added / max(added.max(), 1e-300), constraints=covered, integrality=1, bounds=Bounds(0, 1))
        picked: list[int] = some[np.round(found.x) > 0].tolist()
        return picked

    def run_costs(self, ahead_s: FloatArray, fits: BoolArray, unit_bytes: float) -> tuple[RunCosts, RunCosts]:
        """Return costs of runs that can be had, and others that are no higher; the same where all experts free as much.

        `ahead_s[L + 1]` are the seconds of layers before each boundary, `fits` the runs that are admitted. A layer
        whose experts are on the host takes one unit of it, or as many as it has of `unit_bytes`.
        """
        size = len(self.added_s)
        need = np.maximum(self.state_bytes - self.room_bytes, 0.0)
        base = np.where(fits, ahead_s[None, :] - ahead_s[:, None], np.inf)
        some = self.freed_bytes > 0
        if not some.any():
            base = np.where(need > 0, np.inf, base)
            plain = RunCosts(base, np.zeros((size + 1, size + 1), np.int64))
            return plain, plain
        if self.free_alike and _are_equal(self.added_s[some]) and float(self.added_s[some].min()) >= 0:
            freed, added = float(self.freed_bytes[some].min()), float(self.added_s[some].min())
            count = np.ceil(need / freed * (1 - ROUNDING)).astype(np.int64)
            before = np.concatenate([[0], np.cumsum(some)])
            seconds = np.where(count <= before[None, :] - before[:, None], base + count * added, np.inf)
            alike = RunCosts(seconds, np.where(np.isfinite(seconds), count, 0))
            return alike, alike
        return self._knapsacks(base, need, unit_bytes)

    def _knapsacks(self, base: FloatArray, need: FloatArray, unit_bytes: float) -> tuple[RunCosts, RunCosts]:
        """Return costs by greedy choices, the cheapest bytes first, and with a part of the last one alone."""
        high, low, shape = base.copy(), base.copy(), base.shape
        taken, least = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        order = np.argsort(self.added_s / np.maximum(self.freed_bytes, 1e-300), kind="stable")
        order = order[self.freed_bytes[order] > 0]
        for begin, end in zip(*np.nonzero(np.isfinite(base)), strict=True):
            inside, wanted = order[(order >= begin) & (order < end)], float(need[begin, end]) * (1 - ROUNDING)
            freed, added = np.cumsum(self.freed_bytes[inside]), np.cumsum(self.added_s[inside])
            gaining = int(np.count_nonzero(self.added_s[inside] < 0))
            count = max(int(np.searchsorted(freed, wanted)) + 1 if wanted > 0 else 0, gaining)
            if count > len(inside):
                high[begin, end] = low[begin, end] = np.inf
            elif count:
                final = inside[count - 1]
                # Dantzig's bound: of the last one taken only the part that is needed costs anything.
                spare = 0.0 if self.free_alike else float(freed[count - 1] - wanted) / float(self.freed_bytes[final])
                high[begin, end] += added[count - 1]
                low[begin, end] += added[count - 1] - spare * max(float(self.added_s[final]), 0.0)
                taken[begin, end] = count
                least[begin, end] = int(np.ceil(wanted / unit_bytes)) if self.free_alike else int(wanted // unit_bytes)
        return RunCosts(high, taken), RunCosts(low, least)


def _are_equal(values: FloatArray) -> bool:
    """Return whether numbers are equal up to rounding."""
    return not len(values) or float(np.ptp(values)) <= ROUNDING * float(np.abs(values).max())


def expert_bytes_of(layers: Layers) -> FloatArray:
    """Return the bytes of the experts of every layer, 0 where they are not known."""
    return np.zeros(layers.size) if layers.served is None else layers.served.expert_bytes


def added_seconds(layers: Layers, cluster: Cluster, device: int, host: int) -> FloatArray:
    """Return what each layer on a device takes longer with its experts on the host, infinite where none can be there.

    The host computes their part of the forward pass; what goes into a layer is sent there, and as much comes back.
    """
    served = layers.served
    if served is None or device == host or cluster.link[device, host] == NO_LINK:
        return np.full(layers.size, np.inf)
    slower = 1 / float(cluster.speed[host]) - 1 / float(cluster.speed[device])
    sent = cluster.seconds(device, host, layers.crossing_bytes[:-1])
    return np.where(served.expert_bytes > 0, layers.forward_s * served.expert_share * slower + 2 * sent, np.inf)


def run_bytes(layers: Layers) -> FloatArray:
    """Return the state of layers i .. j - 1, [L + 1, L + 1], of tied ones once."""
    sums = np.concatenate([[0.0], np.cumsum(layers.state_bytes)])
    state: FloatArray = np.maximum(sums[None, :] - sums[:, None], 0.0)
    for group in layers.tied:
        for before, member in pairwise(group):
            state[: before + 1, member + 1 :] -= layers.state_bytes[member]
    return state


def quickest_hosted_line(graph: LayeredGraph, costs: tuple[RunCosts, ...], units: int) -> HostedLine | None:
    """Return the line of the least latency whose runs take no more units of the host in all; None if there is none.

    Exact, as `latency_dp`, with the units left as a further part of the state. `costs[c]` are those of owner c.
    O(states x units x L^2).
    """
    rows: list[FloatArray] = []
    for level in graph.levels:
        rows.append(_latencies(level.owner, costs, _beyond(graph, rows, units)))
    starts = [(float(row[-1, :-1, 0].min()), depth) for depth, row in enumerate(rows) if depth >= graph.shortest]
    least, depth = min(starts, default=(np.inf, 0))
    if not np.isfinite(least):
        return None
    return _trace(graph, rows, costs, depth)


def _beyond(graph: LayeredGraph, rows: list[FloatArray], units: int) -> FloatArray:
    """Return the least latency behind a stage of the next level, by units left, state, and its end."""
    size, number = graph.sent_s.shape[1], len(rows)
    level = graph.levels[number]
    beyond = np.full((units + 1, len(level.owner), size), np.inf)
    if not number:
        beyond[:, :, -1] = 0.0
        return beyond
    for k in range(level.options.shape[1]):
        np.minimum(beyond, rows[-1][:, level.options[:, k]] + graph.sent_s[level.via[:, k]], out=beyond)
    return beyond


def _latencies(owners: IntArray, costs: tuple[RunCosts, ...], beyond: FloatArray) -> FloatArray:
    """Return the least latency from each start of stages of some owners on, [units + 1, states + 1, L + 1]."""
    units, states, size = beyond.shape
    rows = np.full((units, states + 1, size), np.inf)
    ends = np.arange(size)
    for state, owner in enumerate(owners.tolist()):
        run = costs[owner]
        for left in range(units):
            rest = left - run.units
            behind = np.where(rest >= 0, beyond[np.maximum(rest, 0), state, ends], np.inf)
            rows[left, state] = (run.seconds + behind).min(axis=1)
    return rows


def _trace(graph: LayeredGraph, rows: list[FloatArray], costs: tuple[RunCosts, ...], depth: int) -> HostedLine:
    """Return the line of the least latency from a level on."""
    left = rows[0].shape[0] - 1
    state, owners, cuts = int(np.argmin(rows[depth][left, :-1, 0])), list[int](), [0]
    latency_s, ends = float(rows[depth][left, state, 0]), np.arange(graph.sent_s.shape[1])
    for number in range(depth, -1, -1):
        level = graph.levels[number]
        owner = int(level.owner[state])
        run, beyond = costs[owner], _beyond(graph, rows[:number], rows[0].shape[0] - 1)
        rest = left - run.units[cuts[-1]]
        behind = np.where(rest >= 0, beyond[np.maximum(rest, 0), state, ends], np.inf)
        cut = int(np.argmin(run.seconds[cuts[-1]] + behind))
        left = int(rest[cut])
        owners.append(owner)
        cuts.append(cut)
        if number:
            follow = rows[number - 1][left, level.options[state], cut] + graph.sent_s[level.via[state], cut]
            state = int(level.options[state, int(np.argmin(follow))])
    return HostedLine(tuple(owners), tuple(cuts), latency_s)
