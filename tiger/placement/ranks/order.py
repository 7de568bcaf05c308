"""The search for an order of devices: a quadratic assignment problem, in turns with exact cuts."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seeds import derive
from tiger.placement.chain.backtrace import ChainResult
from tiger.placement.chain.best_order import best_line, sweep_steps
from tiger.placement.chain.dp_states import WORK_LIMIT
from tiger.placement.chain.params import LineParams
from tiger.placement.ranks.line_costs import LayerLinkCosts
from tiger.placement.ranks.order_descent import ROUGHLY, OrderDescent
from tiger.placement.ranks.search import OrderSearch
from tiger.placement.ranks.starts import starts
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderParams:
    """Set the search for an order: `passes` for each effort, of at most `steps` of assigning stages and cutting again.

    The load of the bottleneck is weighted up by a factor of `stress` to the power of its pass and step.
    """

    passes: int = 2
    steps: int = 3
    stress: float = 1.5


def order_devices(layers: Layers, cluster: Cluster, params: LineParams, search: OrderSearch) -> ChainResult | None:
    """Order the devices of a cluster, or some of them, into a line with a small bottleneck; None where none was found.

    Starts from the cluster's order, the fastest first and machine by machine, each with as many devices as pay; in
    passes, the stages between exact cuts are put onto devices as a quadratic assignment problem, and cut again; each
    order is improved by moves. Exact in the cuts, heuristic in the order: the line's `bound_s` holds for all.
    "auto" goes through all orders instead where that is no more work, and then is exact in both.
    """
    if search.solver == "auto" and sweep_steps(layers, cluster, params) <= WORK_LIMIT:
        return best_line(layers, cluster, params, search.stop)
    device_type = _device_types(cluster, params)
    descent = OrderDescent(
        lines=LayerLinkCosts.of(layers, cluster, params), search=search, device_type=device_type, stages=params.stages
    )
    best = descent.best_prefix(starts(cluster, search.seed))
    if best.bottleneck_s < np.inf and device_type.any():
        best = descent.descend(best)
        for number in range(OrderParams().passes * search.effort):
            if not search.stop():
                best = _alternate(layers, cluster, descent, best, number)
        best = descent.perturb(best)
    return best if best.bottleneck_s < np.inf else None


def _device_types(cluster: Cluster, params: LineParams) -> IntArray:
    """Return the type of each device; a pinned one is alone in its own."""
    types, pinned = cluster.device_types(), sorted(set(params.pinned.values()))
    types[pinned] = types.max() + 1 + np.arange(len(pinned))
    return types


def _alternate(layers: Layers, cluster: Cluster, descent: OrderDescent, best: ChainResult, number: int) -> ChainResult:
    """Return the best line of assigning stages and cutting in turns, until that gains nothing.

    The load of the bottleneck is weighted up, as the cost of an assignment is a sum; in later passes by more.
    """
    from tiger.placement.ranks.assignment import assign

    settings = OrderParams()
    line, stress, search = best, np.ones(len(best.devices)), descent.search
    for step in range(settings.steps):
        stress[int(np.argmax(descent.lines.loads_s(line.devices, line.cuts)))] *= settings.stress ** (number + step)
        problem = assignment_of(layers, cluster, line, stress)
        places = assign(problem, search, derive(search.seed, number, step))
        found = descent.descend(descent.lines.cut(places.tolist(), np.inf, ROUGHLY))
        if found.bottleneck_s == np.inf or search.stop():
            break
        best = min(best, found, key=lambda each: each.bottleneck_s)
        line, stress = found, stress if len(found.devices) == len(stress) else np.ones(len(found.devices))
    return best


def assignment_of(layers: Layers, cluster: Cluster, line: ChainResult, stress: FloatArray) -> Problem:
    """Return the problem of putting the stages of a line onto devices; its cost is the sum of the stressed loads."""
    from tiger.placement.ranks.assignment import assignment_problem

    cuts, count = np.array(line.cuts), len(line.devices)
    work = np.add.reduceat(layers.forward_s + layers.backward_s, cuts[:-1])
    crossing = layers.crossing_bytes[cuts[1:-1]]
    # A message goes forward and one back, and both of its ends wait for it.
    volume = 2 * crossing * (stress[:-1] + stress[1:])
    traffic = sp.csr_array((volume, (np.arange(count - 1), np.arange(1, count))), shape=(count, count))
    size = max(float(crossing.mean()), 1.0) if count > 1 else 1.0
    distance = cluster.table_s(size) / size
    return assignment_problem(traffic, work * stress, distance, 1 / cluster.speed)
