"""The evaluation of plans: seconds by the bottleneck or by a schedule, bytes, and whether memory and pins are kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import Workload, workloads
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.schedules.memory import fits_memory, peak_bytes
from tiger.training.schedules.pass_orders import Schedule
from tiger.training.schedules.simulator import iteration_s, simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """Evaluate plans for a model on a cluster: by the bottleneck, or with a schedule by the simulated iteration.

    `pinned` gives the device of a layer, by their numbers.
    """

    layers: Layers
    cluster: Cluster
    schedule: Schedule | None = None
    microbatches: int = 1
    pinned: Mapping[int, int] = field(default_factory=dict)

    def value(self, plan: Plan) -> float:
        """Return the seconds that are minimized, infinite for a plan that breaks a rule or lacks a link."""
        if not self.keeps_pins(plan) or (self.schedule == "interleaved" and self.microbatches % plan.positions):
            return np.inf
        loads = self._loads(plan)
        fits = fits_memory(self._memory_bytes(loads[0]), self.room(plan))
        return self._seconds(loads) if fits else np.inf

    def seconds(self, plan: Plan) -> float:
        """Return the seconds that are minimized, rules aside."""
        return self._seconds(self._loads(plan))

    def bottleneck_s(self, plan: Plan) -> float:
        """Return the largest load of a position for one microbatch."""
        return max(float(load.loads_s.max()) for load in self._loads(plan))

    def excess_bytes(self, plan: Plan) -> float:
        """Return by how much the devices of a plan are too small, added up over positions."""
        held = self.memory_bytes(plan)
        return float(np.maximum(held - self.room(plan), 0).sum())

    def memory_bytes(self, plan: Plan) -> FloatArray:
        """Return the most bytes that a device of each position holds: with a schedule activations too."""
        return self._memory_bytes(self._loads(plan)[0])

    def room(self, plan: Plan) -> FloatArray:
        """Return the memory of the smallest device of each position, in bytes."""
        return np.asarray(self.cluster.memory_bytes[plan.grid].min(axis=(1, 2)))

    def keeps_pins(self, plan: Plan) -> bool:
        """Return whether all pinned layers are where they have to be."""
        stages = np.searchsorted(plan.cuts, list(self.pinned), side="right") - 1
        spots = zip(stages % plan.positions, self.pinned.values(), strict=True)
        return all((plan.grid[position] == device).any() for position, device in spots)

    def replica_s(self, load: Workload) -> float:
        """Return the seconds that one replica takes; infinite where it sends over no link."""
        if not (np.isfinite(load.transfer_s).all() and np.isfinite(load.closing_s).all()):
            return np.inf
        if self.schedule is None:
            return float(load.loads_s.max())
        return iteration_s(load, self.schedule, self.microbatches)

    def bubble(self, plan: Plan) -> float | None:
        """Return the share of an iteration in which positions run no pass, of the slowest replica."""
        if self.schedule is None:
            return None
        return max(simulate(load, self.schedule, self.microbatches).bubble for load in self._loads(plan))

    def _seconds(self, loads: tuple[Workload, ...]) -> float:
        """Return the seconds of the slowest replica."""
        return max(self.replica_s(load) for load in loads)

    def _loads(self, plan: Plan) -> tuple[Workload, ...]:
        """Return the costs of the stages of every replica."""
        return workloads(self.layers, self.cluster, plan)

    def _memory_bytes(self, load: Workload) -> FloatArray:
        """Return the most bytes that a device of each position holds; the same in all replicas."""
        if self.schedule is None:
            return np.asarray(load.state_bytes.reshape(-1, load.positions).sum(axis=0) + load.working_bytes)
        return peak_bytes(load, self.schedule, self.microbatches)
