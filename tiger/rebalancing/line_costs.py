"""The costs of a pipeline on devices in a row by the times of layers in an interval: loads, memory, and simulation."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.chain.fitting_runs import fitting_ends, prefix_sums
from tiger.rebalancing.cut_solver import CutProgram
from tiger.rebalancing.layer_times import LayerTimes
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import Workload, closing_s
from tiger.training.costs.sums import state_bytes
from tiger.training.costs.tolerances import MET, SUMS
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.schedules.memory import in_flight
from tiger.training.schedules.pass_orders import Schedule
from tiger.training.schedules.simulator import iteration_s

Cuts = tuple[int, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class PipelineCosts:
    """Hold what no times of layers change: a model on p devices in a row, its schedule, messages and memory.

    `sent_s[p - 1, L + 1]` are the seconds of a message over a boundary to the next device, infinite without a link;
    `last[p, L + 1]` is the largest end of a run of layers, by its start, that a position can hold.
    """

    layers: Layers
    cluster: Cluster
    devices: tuple[int, ...]
    schedule: Schedule
    microbatches: int

    @property
    def positions(self) -> int:
        """Return p."""
        return len(self.devices)

    @cached_property
    def sent_s(self) -> FloatArray:
        """Return the seconds of messages."""
        pairs = zip(self.devices[:-1], self.devices[1:], strict=True)
        rows = [self.cluster.seconds(a, b, self.layers.crossing_bytes) for a, b in pairs]
        return np.array(rows, np.float64).reshape(self.positions - 1, self.layers.size + 1)

    @cached_property
    def last(self) -> IntArray:
        """Return the largest ends that fit, with as many microbatches in flight as the schedule has there."""
        count, held = self.positions, in_flight(self.schedule, self.microbatches)
        rooms = self.cluster.memory_bytes[list(self.devices)].tolist()
        return np.array([fitting_ends(self.layers, room, held(count - 1 - s)) for s, room in enumerate(rooms)])

    @cached_property
    def _closing(self) -> dict[tuple[int, ...], FloatArray]:
        """Return the seconds of all-reduces of tied layers that are known, by the stages that hold those."""
        return {}

    def fits(self, cuts: Cuts) -> bool:
        """Return whether every stage fits into memory, and has links to the next and for tied layers."""
        at, ends = np.arange(self.positions), np.array(cuts)
        return bool(
            (self.last[at, ends[:-1]] >= ends[1:]).all()
            and np.isfinite(self.sent_s[at[:-1], ends[1:-1]]).all()
            and np.isfinite(self.closing_s(cuts)).all()
        )

    def closing_s(self, cuts: Cuts) -> FloatArray:
        """Return the seconds [p] of all-reducing the gradients of tied layers."""
        tied = [member for group in self.layers.tied for member in group]
        if not tied:
            return np.zeros(self.positions)
        key = tuple(np.searchsorted(cuts, tied, side="right").tolist())
        if key not in self._closing:
            self._closing[key] = closing_s(self.layers, self.cluster, Plan.line(cuts, self.devices))
        return self._closing[key]


@dataclass(frozen=True, kw_only=True, eq=False)
class LineCosts:
    """Hold a line, and the times of layers in an interval; judge cuts of p stages.

    Messages are those of the model all the time, and so is memory: what changes are seconds of passes.
    """

    line: PipelineCosts
    times: LayerTimes
    _known: dict[Cuts, float] = field(default_factory=dict, init=False)

    @cached_property
    def ahead_s(self) -> FloatArray:
        """Return the seconds [2, L + 1] of the first layers in forward and in backward passes, at speed 1."""
        return np.array([prefix_sums(self.times.forward_s), prefix_sums(self.times.backward_s)])

    @cached_property
    def slowdown(self) -> FloatArray:
        """Return by what each position multiplies seconds."""
        return np.asarray(1 / self.line.cluster.speed[list(self.line.devices)])

    def passes_s(self, cuts: Cuts) -> FloatArray:
        """Return the forward and backward seconds [2, p] of stages."""
        return np.asarray(np.diff(self.ahead_s[:, list(cuts)], axis=1) * self.slowdown)

    def loads_s(self, cuts: Cuts) -> FloatArray:
        """Return the seconds [p] of stages for one microbatch, messages at both ends included."""
        at = np.arange(self.line.positions - 1)
        inner = 2 * self.line.sent_s[at, list(cuts[1:-1])]
        return np.asarray(self.passes_s(cuts).sum(axis=0) + np.pad(inner, (1, 0)) + np.pad(inner, (0, 1)))

    @cached_property
    def program(self) -> CutProgram:
        """Return the loads of runs for one microbatch, messages at both ends included."""
        both_s = 2 * self.line.sent_s
        return CutProgram(
            ahead_s=self.ahead_s.sum(axis=0),
            slowdown=self.slowdown,
            received_s=np.pad(both_s, ((1, 0), (0, 0))),
            sent_s=np.pad(both_s, ((0, 1), (0, 0))),
            last=self.line.last,
        )

    def bound_s(self, cuts: Cuts) -> float:
        """Return a lower bound on the simulated iteration: a stage waits for one microbatch, then runs all its passes.

        It also waits until the gradients of the last one have gone back through the stages before it.
        """
        forward, backward = self.passes_s(cuts)
        around = np.cumsum(forward + backward) - forward - backward
        return float((around + self.line.microbatches * (forward + backward)).max()) * (1 - MET)

    def iteration_s(self, cuts: Cuts) -> float:
        """Return the simulated seconds of an iteration, infinite where a stage does not fit or lacks a link."""
        if cuts not in self._known:
            self._known[cuts] = self._simulate(cuts) if self.line.fits(cuts) else np.inf
        return self._known[cuts]

    def lower_bound_s(self) -> float:
        """Return what no cuts of whole layers on these devices can beat: m times the mean load or the longest layer."""
        total = self.times.forward_s + self.times.backward_s
        mean = float(total.sum() / (1 / self.slowdown).sum())
        return self.line.microbatches * max(mean, float(total.max() * self.slowdown.min())) * (1 - SUMS)

    def _simulate(self, cuts: Cuts) -> float:
        """Return the simulated seconds of cuts that fit."""
        line, layers = self.line, self.line.layers
        forward, backward = self.passes_s(cuts)
        workload = Workload(
            forward_s=forward,
            backward_s=backward,
            weight_s=backward / 2,
            transfer_s=line.sent_s[np.arange(line.positions - 1), list(cuts[1:-1])],
            held_bytes=np.add.reduceat(layers.held_bytes, cuts[:-1]),
            state_bytes=state_bytes(layers, cuts),
            closing_s=line.closing_s(cuts),
            room_bytes=line.cluster.memory_bytes[list(line.devices)],
        )
        return iteration_s(workload, line.schedule, line.microbatches)
