"""Where the time of an iteration goes."""

from dataclasses import dataclass, field, replace

import numpy as np

from tiger.model.document import LATER, Document
from tiger.placement.search.evaluator import Evaluator
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import Workload, workloads


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown(Document):
    """Hold the seconds of an iteration of the slowest replica, by what its positions do, in the mean over positions.

    `compute_s` is computing, `tensor_s` all-reduces of tensor-parallel ranks, `groups_s` what ranks with the same
    layers send each other in passes (context and expert ranks, weights that are shared out), `messages_s` sending to
    and receiving from other positions, `gradients_s` all-reducing gradients, `waiting_s` the rest. They add up to the
    iteration.
    """

    compute_s: float
    tensor_s: float
    messages_s: float
    gradients_s: float
    waiting_s: float
    groups_s: float = field(default=0.0, metadata=LATER)

    @property
    def total_s(self) -> float:
        """Return the seconds of the iteration."""
        return self.compute_s + self.tensor_s + self.groups_s + self.messages_s + self.gradients_s + self.waiting_s


def breakdown(evaluator: Evaluator, plan: Plan) -> Breakdown:
    """Return where the time of a plan that fits goes."""
    loads = workloads(evaluator.layers, evaluator.cluster, plan)
    slowest = max(range(len(loads)), key=lambda replica: evaluator.replica_s(loads[replica]))
    load, total = loads[slowest], evaluator.replica_s(loads[slowest])
    alone = replace(evaluator.layers, group_traffic=evaluator.layers.traffic.without_groups())
    silent = replace(alone, reduced_bytes=np.zeros(evaluator.layers.size))
    compute, reducing = (
        _passing_s(workloads(layers, evaluator.cluster, plan)[slowest], evaluator.microbatches)
        for layers in (silent, alone)
    )
    passing = _passing_s(load, evaluator.microbatches)
    # Within one position nothing is sent.
    each = evaluator.microbatches / load.pipelines
    sent = 4 * each * float(load.transfer_s.sum()) / load.positions if load.positions > 1 else 0.0
    gradients = float(load.closing_s.mean())
    return Breakdown(
        compute_s=compute,
        tensor_s=reducing - compute,
        groups_s=passing - reducing,
        messages_s=sent,
        gradients_s=gradients,
        waiting_s=max(total - passing - sent - gradients, 0.0),
    )


def _passing_s(load: Workload, microbatches: int) -> float:
    """Return the seconds of all passes, in the mean over positions."""
    return microbatches / load.pipelines * float((load.forward_s + load.backward_s).sum()) / load.positions
