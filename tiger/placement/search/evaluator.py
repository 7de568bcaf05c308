"""The evaluation of plans: seconds by the bottleneck or by a schedule, bytes, and whether memory and pins are kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.placement.operators.params import Objective
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import Workload, workloads
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.models.serving import forward_alone
from tiger.training.schedules.memory import fits_memory, peak_bytes
from tiger.training.schedules.pass_orders import Schedule, stages_each, style_of, wanted_microbatches
from tiger.training.schedules.simulator import iteration_s, simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """Evaluate plans for a model on a cluster: by the bottleneck, by latency, or by the iteration of a schedule.

    `pinned` gives the device of a layer, by their numbers.
    """

    layers: Layers
    cluster: Cluster
    schedule: Schedule | None = None
    objective: Objective = "throughput"
    microbatches: int = 1
    pinned: Mapping[int, int] = field(default_factory=dict)

    def for_single_stages(self) -> Self:
        """Return an evaluator of plans with one stage a position, by 1F1B where the schedule has others."""
        single = stages_each(self.schedule) == 1 and style_of(self.schedule) == "loop"
        return self if single else replace(self, schedule="1f1b")

    def value(self, plan: Plan) -> float:
        """Return the seconds that are minimized, infinite for a plan that breaks a rule or lacks a link."""
        return self.judge(plan)[0] if self._keeps_rules(plan) else np.inf

    def judge(self, plan: Plan) -> tuple[float, float]:
        """Return the seconds of a plan as `value` does, and its excess bytes."""
        loads, room = self._loads(plan), self.room(plan)
        held = self._memory_bytes(loads[0])
        excess = float(np.maximum(held - room, 0).sum())
        allowed = self._keeps_rules(plan) and fits_memory(held, room)
        if not allowed:
            return np.inf, excess
        return self.latency_s(plan) if self.objective == "latency" else self._seconds(loads), excess

    def seconds(self, plan: Plan) -> float:
        """Return the seconds that are minimized, rules aside."""
        return self._seconds(self._loads(plan))

    def bottleneck_s(self, plan: Plan) -> float:
        """Return the largest load of a position for one microbatch."""
        return max(float(load.loads_s.max()) for load in self._loads(plan))

    def latency_s(self, plan: Plan) -> float:
        """Return the seconds of one microbatch forward through all stages, of the slowest replica and direction."""
        alone = forward_alone(self.layers)
        loads = [load for each in plan.directions for load in workloads(alone, self.cluster, each)]
        return max(float(load.forward_s.sum() + load.transfer_s.sum()) for load in loads)

    def excess_bytes(self, plan: Plan) -> float:
        """Return by how much the devices of a plan are too small, added up over positions."""
        return float(np.maximum(self.memory_bytes(plan) - self.room(plan), 0).sum())

    def memory_bytes(self, plan: Plan) -> FloatArray:
        """Return the most bytes that a device of each position holds: with a schedule activations too."""
        return self._memory_bytes(self._loads(plan)[0])

    def room(self, plan: Plan) -> FloatArray:
        """Return the memory of the smallest device of each position, in bytes."""
        return np.asarray(self.cluster.memory_bytes[plan.grid].min(axis=(1, 2)))

    def keeps_pins(self, plan: Plan) -> bool:
        """Return whether all pinned layers are where they have to be."""
        stages = np.searchsorted(plan.cuts, list(self.pinned), side="right") - 1
        at = zip(plan.stage_positions[stages], self.pinned.values(), strict=True)
        return all((plan.holders[position] == device).any() for position, device in at)

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

    def _keeps_rules(self, plan: Plan) -> bool:
        """Return whether pinned layers are where they have to be, and the schedule can run the microbatches."""
        runs = wanted_microbatches(self.schedule, plan.positions, self.microbatches) is None
        return runs and self.keeps_pins(plan)

    def _seconds(self, loads: tuple[Workload, ...]) -> float:
        """Return the seconds of the slowest replica; those with the same costs are simulated once."""
        different = {
            b"".join(part.tobytes() for part in (load.forward_s, load.backward_s, load.weight_s, load.transfer_s)): load
            for load in loads
        }
        return max(self.replica_s(load) for load in different.values())

    def _loads(self, plan: Plan) -> tuple[Workload, ...]:
        """Return the costs of the stages of every replica."""
        return workloads(self.layers, self.cluster, plan)

    def _memory_bytes(self, load: Workload) -> FloatArray:
        """Return the most bytes that a device of each position holds; the same in all replicas."""
        if self.schedule is None:
            return np.asarray(load.by_position(load.state_bytes).sum(axis=0) + load.working_bytes)
        return peak_bytes(load, self.schedule, self.microbatches)
