"""Lower bounds for all plans of a family: on the seconds of an iteration, and on the bytes of a device."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray, lock
from tiger.planning.choices import Family
from tiger.planning.links import LinkCurves
from tiger.training.costs.stages import exposed_s, reduction_kind
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.collectives import RingTable
from tiger.training.models.layers import Layers
from tiger.training.schedules.best_cuts_bound import LowestCosts, cut_bounds_s, spans
from tiger.training.schedules.memory import count_whole_microbatches, in_flight
from tiger.training.schedules.pass_orders import V_ORDERS, Schedule, pipelines_of

# Bounds by the best of all cuts take O(p L^2) time and L^2 memory, and are left out above this number of layers.
MOST_LAYERS = 600


class _RingWay(NamedTuple):
    """Hold the first curves that tensor- and data-parallel rings need, and the most NICs that the latter have."""

    tensor: int
    data: int
    nics: float


@dataclass(frozen=True, kw_only=True, eq=False)
class FamilyBounds:
    """Hold lower bounds on what plans of a family spend on each of L layers, in seconds.

    `passes_s[3, L]` are forward, backward and, within that, weight passes for one microbatch on the quickest devices,
    without communication. Each row of `reduced_s[o, L]` and `closing_s[o, L]` is a way in which rings may run: what a
    pass spends on tensor-parallel all-reduces, and an iteration on what the ranks with the layer send each other. Of
    the stages of a plan every one has costs no less than those of some row. No rows where no such rings can be.
    `transfer_s[L + 1]` is a message over each boundary, and `speeds` are those of all devices, the quickest first.
    """

    layers: Layers
    family: Family
    passes_s: FloatArray
    reduced_s: FloatArray
    closing_s: FloatArray
    transfer_s: FloatArray
    speeds: FloatArray

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, links: LinkCurves, family: Family) -> Self:
        """Return the bounds of a family."""
        tensor = family.tensor
        ways = _ring_ways(links, layers, family)
        times = np.array([layers.forward_s, layers.backward_s, layers.weight_s])
        nothing = np.zeros(layers.size + 1)
        return cls(
            layers=layers,
            family=family,
            passes_s=times / (tensor * cluster.speed.max()),
            reduced_s=np.array([_reduction_s(layers, links, tensor, way.tensor) for way in ways]).reshape(
                -1, layers.size
            ),
            closing_s=np.array([_closing_s(layers, links, family, way) for way in ways]).reshape(-1, layers.size),
            transfer_s=links.least_s(0, layers.crossing_bytes / tensor) if links.curves else nothing,
            speeds=np.sort(cluster.speed)[::-1],
        )

    @classmethod
    def least(cls, bounds: Sequence[Self]) -> Self:
        """Return the bounds that hold for all ways to hold layers by the same degrees: the least of each part."""
        first = bounds[0]
        return replace(
            first,
            passes_s=np.min([each.passes_s for each in bounds], axis=0),
            closing_s=np.min([each.closing_s for each in bounds], axis=0),
        )

    @property
    def possible(self) -> bool:
        """Return whether rings of as many devices as the family has can be at all."""
        return len(self.reduced_s) > 0

    def work_s(self, positions: int, pipelines: int = 1) -> float:
        r"""Return a lower bound on an iteration on so many positions, for devices that never wait.

        With the speeds of the quickest devices, the slowest of them s, what a replica spends on layer l beside
        computing, :math:`c_l`, and p t d devices:

        .. math:: T \sum_k s_k \ge d \sum_l (m w_l + t s\, c_l)

        as every position is busy for no longer than T. Nor is it shorter than the largest layer takes, whose
        microbatches are shared by as many positions as there are pipelines side by side.
        """
        family, count = self.family, self.family.microbatches
        used = self.speeds[: positions * family.tensor * family.copies]
        beside = (2 * count * self.reduced_s + self.closing_s).min(axis=0)
        alone = count * (self.passes_s[0] + self.passes_s[1]) + beside
        work = count * (self.layers.forward_s + self.layers.backward_s) + family.tensor * self.speeds[-1] * beside
        return max(float(family.copies * work.sum() / used.sum()), float(alone.max()) / pipelines)

    def cuts_s(self, schedule: Schedule, positions: int) -> FloatArray:
        """Return bounds [p] for pipelines of 1, 2, .. positions with one stage each, by the best of all cuts.

        Every stage runs behind the forward passes of the layers before it, and its gradients are all-reduced when it
        is done; and the paths of `cut_bounds_s`. 0 for more than 600 layers. O(p L^2).
        """
        size = self.layers.size
        if size > MOST_LAYERS:
            return np.zeros(positions)
        count, message = self.family.microbatches, self.transfer_s[:, None] + self.transfer_s[None, :]
        loads = [
            count * (spans(self.passes_s[0] + self.passes_s[1] + 2 * reduced) + 2 * message) + spans(closing)
            for reduced, closing in zip(self.reduced_s, self.closing_s, strict=True)
        ]
        forward = self.passes_s[0] + self.reduced_s.min(axis=0)
        stages = np.min(loads, axis=0) + _prefix_sums(forward)[:, None]
        return np.maximum(
            _sweep([_ban_empty(stages)] * positions, positions),
            cut_bounds_s(self._lowest_costs(), schedule, positions, count),
        )

    def need_bytes(self, schedule: Schedule, virtual: int, positions: int) -> float:
        r"""Return a lower bound on the bytes of the fullest of so many positions, whatever the cuts.

        Position s holds at some moment c_s microbatches or more of each of its layers. Layer l has the state a_l and
        holds b_l for a microbatch, in all A and B. For any weights w of positions that add up to 1 the largest need is

        .. math:: M \ge \sum_l \min_s w_s (a_l + c_s b_l), \qquad w_s \propto 1 / (A + c_s B)

        with weights that make equal layers need equally much everywhere.
        """
        if pipelines_of(schedule) > 1:
            # Every layer is at two positions, of which each may hold less.
            flying = np.zeros(positions, np.int64)
        elif schedule in V_ORDERS:
            flying = _count_whole(schedule, self.family.microbatches, positions)
        elif virtual > 1:
            # Before its first backward pass a position has dealt out so many forward passes; the last stage has least.
            flying = np.minimum(2.0 * np.arange(positions) + 1, positions)
        else:
            flying = _count_flying(schedule, self.family.microbatches, positions)
        (state, held), often = self._different_bytes
        needs = state[:, None] + flying * held[:, None]
        weight = 1 / np.maximum(often @ needs, 1.0)
        every = float(often @ (needs * weight).min(axis=1) / weight.sum())
        # Every position has some layer at work.
        return (every + self._least_working_bytes) / self.family.tensor

    @cached_property
    def _different_bytes(self) -> tuple[FloatArray, IntArray]:
        """Return the different pairs `[2, k]` of what layers hold always and for a microbatch, and how often each is.

        Of tied layers the first alone has a state.
        """
        state = self.layers.state_bytes.copy()
        for group in self.layers.tied:
            state[list(group[1:])] = 0.0
        return np.unique([state, self.layers.held_bytes], axis=1, return_counts=True)

    def fits_cuts(self, schedule: Schedule, positions: int, most_bytes: float) -> BoolArray:
        """Return for 1, 2, .. positions [p] whether `cut_bytes` is known to be at most so many. O(p L).

        The last stages take as many layers as fit one after another: with every layer fitting alone, all numbers of
        layers down to one each can be taken. False is no proof where a layer does not fit alone, nor above 600 layers.
        """
        found, begin = np.zeros(positions, np.bool_), self.layers.size
        if begin > MOST_LAYERS:
            return found
        (state, held), flying = self._spans_bytes, in_flight(schedule, self.family.microbatches)
        alone = np.arange(begin), np.arange(1, begin + 1)
        for after in range(min(positions, begin)):
            if not (self._need_bytes(state[alone], flying(after), held[alone]) <= most_bytes).all():
                break
            if begin:
                needs = self._need_bytes(state[:begin, begin], flying(after), held[:begin, begin])
                begin = int(np.argmax(needs <= most_bytes))
            found[after] = begin == 0
        return found

    def cut_bytes(self, schedule: Schedule, positions: int) -> FloatArray:
        """Return lower bounds on the bytes [p] of the fullest of 1, 2, .. positions with the best of all cuts.

        0 for more than 600 layers. O(p L^2).
        """
        if self.layers.size > MOST_LAYERS:
            return np.zeros(positions)
        flying = in_flight(schedule, self.family.microbatches)
        return _sweep(self._stages_bytes(flying(after) for after in range(positions)), positions)

    def _stages_bytes(self, flying: Iterable[int]) -> Iterator[FloatArray]:
        """Yield what stages of layers i to j - 1 need with so many microbatches in flight each, in one array."""
        state, held = self._spans_bytes
        needs, before = np.empty_like(state), -1
        for count in flying:
            if count != before:
                np.multiply(held, count, out=needs)
                needs += state
                needs += self._least_working_bytes
                needs /= self.family.tensor
                needs, before = _ban_empty(needs), count
            yield needs

    def _need_bytes(self, state_bytes: FloatArray, flying: int, held_bytes: FloatArray) -> FloatArray:
        """Return the bytes of a device with some layers that has so many microbatches in flight, and one at work."""
        return (state_bytes + flying * held_bytes + self._least_working_bytes) / self.family.tensor

    @cached_property
    def _least_working_bytes(self) -> float:
        """Return what the least layer at work needs."""
        return float(self.layers.working_bytes.min())

    @cached_property
    def _spans_bytes(self) -> tuple[FloatArray, FloatArray]:
        """Return what layers i to j - 1 hold always and for a microbatch, each `[L + 1, L + 1]`."""
        state, held = spans(self.layers.state_bytes), spans(self.layers.held_bytes)
        for group in self.layers.tied:
            # A stage that holds two of them in a row holds the later one for nothing.
            for before, member in pairwise(group):
                state[: before + 1, member + 1 :] -= self.layers.state_bytes[member]
        return state, held

    def _lowest_costs(self) -> LowestCosts:
        """Return the least seconds of passes and messages, for bounds without gradients."""
        reduced = self.reduced_s.min(axis=0)
        passes = self.passes_s[0] + self.passes_s[1] + 2 * reduced
        return LowestCosts(
            passes_s=passes,
            forward_s=self.passes_s[0] + reduced,
            urgent_s=passes - np.minimum(self.passes_s[2], self.passes_s[1]),
            transfer_s=self.transfer_s,
        )


@lru_cache(maxsize=1024)
def _count_flying(schedule: Schedule, microbatches: int, positions: int) -> IntArray:
    """Return the microbatches in flight at positions with 0, 1, .. behind them."""
    count = in_flight(schedule, microbatches)
    return lock(np.array([count(after) for after in range(positions)]))


@lru_cache(maxsize=1024)
def _count_whole(schedule: Schedule, microbatches: int, positions: int) -> IntArray:
    """Return the microbatches that positions of two stages hold of both at a time."""
    return lock(count_whole_microbatches(schedule, positions, 2, microbatches))


def _ring_ways(links: LinkCurves, layers: Layers, family: Family) -> list[_RingWay]:
    """Return the ways in which the tensor- and data-parallel rings of a stage may run, with the curves that they need.

    All rings of a stage together join its devices, so that one of both kinds has a link that is needed for as many.
    """
    # Rings in which nothing is sent need no link.
    cut = family.tensor if layers.reduced_bytes.any() else 1
    copied = family.copies if layers.parameter_bytes.any() else 1
    needs = [links.need(ranks) for ranks in (cut, copied, cut * copied)]
    if None in needs:
        return []
    tensor, data, both = (need or 0 for need in needs)
    alone = links.count_nics(copied)
    if cut == 1 or copied == 1:
        return [_RingWay(tensor, data, alone)]
    # Tensor-parallel ranks that are on one machine share its NICs with each other's replicas.
    near = alone if any(links.outside[:both]) else links.count_nics(copied, cut)
    return sorted({_RingWay(both, data, alone), _RingWay(tensor, both, near)})


def _reduction_s(layers: Layers, links: LinkCurves, tensor: int, need: int) -> FloatArray:
    """Return the seconds [L] that a pass of each layer spends in rings with a link of a curve or one behind it."""
    if tensor == 1 or not layers.reduced_bytes.any():
        return np.zeros(layers.size)
    calls, kind = np.maximum(layers.reductions, 1), reduction_kind(layers)
    size = layers.reduced_bytes / calls
    table = RingTable(cluster=links.cluster, size_bytes=size, ranks=tensor, collective=kind, times=calls)
    # The slowest devices hide most.
    hiding_s = layers.hiding_s / (tensor * links.cluster.speed.min())
    return exposed_s(layers, links.least_ring_s(need, table, links.count_nics(tensor)), hiding_s)


def _closing_s(layers: Layers, links: LinkCurves, family: Family, way: _RingWay) -> FloatArray:
    """Return the seconds [L] that ranks with a layer spend at least on messages to each other, tied ones counted once.

    Those are the gradients and weights of an iteration, and what goes in every pass: a backward one scatters as well.
    """
    copies, traffic = family.copies, layers.traffic
    if copies == 1 or not layers.parameter_bytes.any():
        return np.zeros(layers.size)
    # Rings of experts that are dealt out are shorter, and left out.
    passing = 2 * traffic.pass_gathered_bytes + traffic.pass_scattered_bytes
    sent = traffic.scattered_bytes + traffic.gathered_bytes + family.microbatches * passing
    size = (sent[0] if family.expert > 1 else sent.sum(axis=0)) / family.tensor
    for group in layers.tied:
        size[list(group[1:])] = 0.0
    steps = (copies - 1) / copies
    if layers.setup.sharding == "none" and links.cluster.reduces.any():
        # Both halves of an all-reduce at once.
        steps = min(steps, (1 + 1 / copies) / (2 * float(links.cluster.reduces.max())))
    messages = np.concatenate([traffic.scattered_bytes, traffic.gathered_bytes, passing]).ravel()
    least = float(messages[messages > 0].min(initial=np.inf)) / (family.tensor * copies)
    spent = steps * size * links.least_rate(way.data, way.nics, least)
    near = links.need(family.context) if family.context > 1 else None
    if near is None:
        return np.asarray(spent)
    # Keys and values go round once in a forward pass, and with their gradients in a backward pass.
    keys = (3 + traffic.repeats) * traffic.context_bytes / (family.tensor * family.context)
    least = float(keys[keys > 0].min(initial=np.inf)) / (3 + float(traffic.repeats.max()))
    rate = links.least_rate(near, links.count_nics(family.context), least)
    return np.asarray(spent + family.microbatches * (family.context - 1) * keys * rate)


def _ban_empty(costs: FloatArray) -> FloatArray:
    """Return costs [L + 1, L + 1] of layers i to j - 1, in place, infinite where there are none."""
    costs[np.tri(len(costs), dtype=np.bool_)] = np.inf
    return costs


def _sweep(stages: Iterable[FloatArray], count: int) -> FloatArray:
    """Return the least largest cost [p] of cuts into 1, 2, .. stages; costs [L + 1, L + 1], those of the last first."""
    behind, found = np.zeros(0), np.empty(count)
    for after, costs in enumerate(stages):
        if not after:
            behind, paths = np.where(np.arange(len(costs)) == len(costs) - 1, 0.0, np.inf), np.empty_like(costs)
        # Row i begins with layer i, column j is where the stages behind begin.
        behind = np.maximum(costs, behind, out=paths).min(axis=1)
        found[after] = behind[0]
    return found


def _prefix_sums(values: FloatArray) -> FloatArray:
    """Return the sums [L + 1] of the first k layers."""
    return np.concatenate([[0.0], np.cumsum(values)])
