"""Compiled branch and bound: where the qubits of a routed circuit lose least, each pair that it uses on a pair.

Depth first (Land, Doig 1960, doi:10.2307/1910129). Losses by errors are a sum over pairs and qubits, which bounds from
below what a partial placement leads to; of a whole one the circuit is timed, so that waiting counts as it is. With the
seconds that qubits waited where they were before, the sum is nearer to the whole, and bounds nothing.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.noise.depth import ErrorCosts, QubitTimes, run_operations
from tiger.solvers.kernel import allocating_kernel, inner_kernel, kernel

# How many operations are timed in the time of a visit to a candidate.
VISIT = 16
# What is less of a gain is rounding, and what stands for an infinite cost where a sum has to stay a number.
GAIN, WORST = 1e-12, 1e9


class DeviceUsage(NamedTuple):
    """Hold what operations use of a device of N qubits.

    Qubit p meets `near[e]`, e from `first[p]` to `first[p + 1]`, in `there[e]` gates from p, `back[e]` gates to p and
    `swaps[e]` SWAPs, listed at both ends. `ones[N]` one-qubit gates, `reads[N]` measurements, `waits[N]` seconds.
    """

    first: IndexArray
    near: IndexArray
    there: FloatArray
    back: FloatArray
    swaps: FloatArray
    ones: FloatArray
    reads: FloatArray
    waits: FloatArray


class LeastCosts(NamedTuple):
    """Hold what an edge, in its better direction, and a qubit cost, each in ascending order."""

    edge: FloatArray
    single: FloatArray
    readout: FloatArray
    decay: FloatArray


class DeviceCosts(NamedTuple):
    """Hold a device of N qubits: `neighbours[N, d]`, `degree[N]`, and costs, infinite on what is no edge."""

    neighbours: IndexArray
    degree: IndexArray
    costs: ErrorCosts
    least: LeastCosts

    @classmethod
    def of(cls, coupling: Coupling, costs: ErrorCosts) -> "DeviceCosts":
        """Return the device of a coupling map, on which costs of other pairs do not count; O(N^2)."""
        degree = (coupling.neighbours >= 0).sum(axis=1, dtype=np.int32)
        pair = np.where(coupling.hops == 1, costs.pair, np.inf)
        p, q = coupling.edges.T
        each = np.minimum(pair[p, q], pair[q, p]), costs.single, costs.readout, costs.decay
        # Finite, since nothing times an infinite cost would be no number in a sum of bounds.
        least = LeastCosts(*[np.minimum(np.sort(column), WORST) for column in each])
        return cls(coupling.neighbours.copy(), degree, costs._replace(pair=pair), least)


class BranchState(NamedTuple):
    """Hold the memory of a branch and bound over h qubits, so that it can go on later.

    `operations[k, 3]` are those of the circuit. `order[h]`: qubits in the order they are placed; `rest[h + 1]`: least
    cost of what comes after; `image[N]`: where a qubit is, or -1; `taken[N]`; `ranked[h, N]`, `price[h, N]`: candidates
    and their costs, `width[h]` of them; `turn[h + 1]`: the next of them, and the depth; `spent[h + 1]`: losses so
    far; `best[h]`: the best images in order. `times` is scratch.
    """

    operations: IndexArray
    order: IndexArray
    rest: FloatArray
    image: IndexArray
    taken: BoolArray
    ranked: IndexArray
    price: FloatArray
    width: IndexArray
    turn: IndexArray
    spent: FloatArray
    best: IndexArray
    times: QubitTimes


@allocating_kernel
def prepare(
    state: BranchState, usage: DeviceUsage, device_costs: DeviceCosts, place: IndexArray, stays: BoolArray
) -> None:
    """Set what the qubits that stay lose by errors, and the least that those of `order` lose from each on."""
    image, least = state.image, device_costs.least
    for v in range(len(place)):
        if stays[v]:
            state.spent[0] += compute_cost_at(state, usage, device_costs, v, place[v])
            image[v] = place[v]
            state.taken[place[v]] = True
    for v in state.order:
        image[v] = 0
    # The most used pair meets the cheapest edge, and so on: the rearrangement inequality makes that a lower bound.
    uses, pairs = np.zeros((4, max(len(usage.near), len(place)))), 0
    for depth in range(len(state.order) - 1, -1, -1):
        v, later = state.order[depth], len(state.order) - 1 - depth
        image[v] = -1
        for e in range(usage.first[v], usage.first[v + 1]):
            if image[usage.near[e]] >= 0:
                insert_use(uses[0], pairs, usage.there[e] + usage.back[e] + 3 * usage.swaps[e])
                pairs += 1
        insert_use(uses[1], later, usage.ones[v])
        insert_use(uses[2], later, usage.reads[v])
        insert_use(uses[3], later, usage.waits[v])
        state.rest[depth] = sum_products(uses[0], least.edge, pairs)
        state.rest[depth] += sum_products(uses[1], least.single, later + 1)
        state.rest[depth] += sum_products(uses[2], least.readout, later + 1)
        state.rest[depth] += sum_products(uses[3], least.decay, later + 1)


@inner_kernel
def insert_use(uses: FloatArray, count: int, use: float) -> None:
    """Insert a number into `count` in descending order."""
    k = count
    while k > 0 and uses[k - 1] < use:
        uses[k] = uses[k - 1]
        k -= 1
    uses[k] = use


@inner_kernel
def sum_products(uses: FloatArray, costs: FloatArray, count: int) -> float:
    """Return the sum of products of the first numbers."""
    total = 0.0
    for k in range(min(count, len(costs))):
        total += uses[k] * costs[k]
    return total


@kernel
def branch(
    state: BranchState, usage: DeviceUsage, device_costs: DeviceCosts, bound: float, limit: int
) -> tuple[float, int, bool]:
    """Search depth first for images that lose less than `bound`, cheapest first; return (bound, visits, ended).

    A later call goes on where this one stopped.
    """
    # Depth-first branch and bound (Land, Doig 1960): `rest` bounds from below what the qubits still to be placed cost.
    length, visits = len(state.order), 0
    depth = state.turn[length]
    if depth < 0:
        depth = 0
        visits += rank_candidates(state, usage, device_costs, 0, bound)
    while depth >= 0 and visits < limit:
        v, turn = state.order[depth], state.turn[depth]
        q = state.image[v]
        if q >= 0:
            state.taken[q] = False
            state.image[v] = -1
        # Candidates come cheapest first: once one cannot lead below the bound, no later one can.
        if turn == state.width[depth] or not is_hopeful(state, depth, turn, bound):
            depth -= 1
            continue
        q = state.ranked[depth, turn]
        state.turn[depth] += 1
        state.image[v] = q
        state.taken[q] = True
        state.spent[depth + 1] = state.spent[depth] + state.price[depth, turn]
        if depth < length - 1:
            depth += 1
            visits += rank_candidates(state, usage, device_costs, depth, bound)
            continue
        loss = time_whole(state, device_costs.costs)
        visits += len(state.operations) // VISIT
        if loss < bound - GAIN:
            bound = loss
            for k in range(length):
                state.best[k] = state.image[state.order[k]]
    state.turn[length] = depth
    return bound, visits, depth < 0


@inner_kernel
def time_whole(state: BranchState, costs: ErrorCosts) -> float:
    """Return what the whole circuit loses with all qubits where they are, by errors and by waiting."""
    times = state.times
    for p in range(len(times.free)):
        times.free[p] = 0.0
        times.live[p] = False
        times.waited[p] = 0.0
    _, loss, idle = run_operations(state.operations, state.image, costs, times)
    return loss + idle


@inner_kernel
def is_hopeful(state: BranchState, depth: int, turn: int, bound: float) -> bool:
    """Return whether a candidate may still lead below the bound."""
    least = state.spent[depth] + state.price[depth, turn] + state.rest[depth + 1]
    return bool(least < bound - GAIN)


@inner_kernel
def rank_candidates(state: BranchState, usage: DeviceUsage, device_costs: DeviceCosts, depth: int, bound: float) -> int:
    """List the candidates of the qubit at `depth`, cheapest first; return how many were looked at."""
    v, anchor = state.order[depth], -1
    state.width[depth] = state.turn[depth] = 0
    for e in range(usage.first[v], usage.first[v + 1]):
        if state.image[usage.near[e]] >= 0:
            anchor = state.image[usage.near[e]]
            break
    # Next to a placed partner there are only its neighbours, elsewhere all of the device.
    many = len(state.taken) if anchor < 0 else device_costs.neighbours.shape[1]
    for k in range(many):
        q = k if anchor < 0 else device_costs.neighbours[anchor, k]
        if q < 0:
            break
        if not state.taken[q] and device_costs.degree[q] >= usage.first[v + 1] - usage.first[v]:
            insert_candidate(state, depth, q, compute_cost_at(state, usage, device_costs, v, q), bound)
    return int(many)


@inner_kernel
def insert_candidate(state: BranchState, depth: int, q: int, cost: float, bound: float) -> None:
    """Insert a candidate behind those that cost no more, unless it cannot lead below the bound."""
    if not state.spent[depth] + cost + state.rest[depth + 1] < bound - GAIN:
        return
    k = state.width[depth]
    while k > 0 and state.price[depth, k - 1] > cost:
        state.price[depth, k] = state.price[depth, k - 1]
        state.ranked[depth, k] = state.ranked[depth, k - 1]
        k -= 1
    state.price[depth, k] = cost
    state.ranked[depth, k] = q
    state.width[depth] += 1


@inner_kernel
def compute_cost_at(state: BranchState, usage: DeviceUsage, device_costs: DeviceCosts, v: int, q: int) -> float:
    """Return the cost of qubit v at device qubit q, with its gates to qubits that are placed."""
    costs = device_costs.costs
    total = usage.waits[v] * costs.decay[q]
    # What is not used adds nothing: zero times an infinite cost is no number.
    if usage.ones[v] > 0:
        total += usage.ones[v] * costs.single[q]
    if usage.reads[v] > 0:
        total += usage.reads[v] * costs.readout[q]
    for e in range(usage.first[v], usage.first[v + 1]):
        r = state.image[usage.near[e]]
        if r >= 0:
            there, back = costs.pair[q, r], costs.pair[r, q]
            if usage.there[e] > 0:
                total += usage.there[e] * there
            if usage.back[e] > 0:
                total += usage.back[e] * back
            # A SWAP is three CX, the outer two in the better direction.
            if usage.swaps[e] > 0:
                total += usage.swaps[e] * (there + back + min(there, back))
    return float(total)
