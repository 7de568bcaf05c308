r"""What a map from slots to experts costs a step: its largest loads, its transitions over links, and its moves.

With \(n_{le}\) replicas of expert e in layer l, of which the share \(y_{leg}\) is on device g of speed \(s_g\),

\[ p \sum_l \max_g \frac{1}{s_g} \sum_e w_{le} y_{leg} + \sum_l \sum_{ef} t_{lef} \sum_{gh} y_{leg} c_{gh} y_{(l+1)fh}
   + \sum_{\text{slots}} r_{leg} \]

is the price of p for a token of a layer's largest load, of c for a transition and of r for an expert that a device
receives. Tokens are sent to all replicas of an expert alike, whatever device they come from, as EPLB has it. Of several
batches the largest load is the mean, where shares are balanced for each batch that of the least that any come to.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tiger.expert_maps.params import Sharing
from tiger.expert_maps.replicas.loads import ExpertLoads, count_replicas, gpu_times, keep_to_rules
from tiger.expert_maps.replicas.moves import find_moved
from tiger.expert_maps.shares.draws import Batches
from tiger.expert_maps.shares.solution import find_largest
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertCost(Document):
    """Hold the parts of what a map of experts costs, all in one unit, and their sum `total`, which is made small.

    `load` is the sum over layers of the largest load of a device, `links` what transitions between devices take, and
    `moves` what becoming this map takes, divided by the steps that it stays.
    """

    load: float
    links: float
    moves: float
    total: float = field(init=False)

    def __post_init__(self) -> None:
        """Add the parts up."""
        object.__setattr__(self, "total", self.load + self.links + self.moves)

    @property
    def step(self) -> float:
        """Return what a step costs once nothing moves."""
        return self.load + self.links


@dataclass(frozen=True, eq=False)
class SlotProblem:
    """Hold what maps `slots` [L, S] are compared by: the loads of L layers of E experts on G devices, and prices.

    `counts` [L - 1, E, E] are the transitions of a step, [0, E, E] for none. `token` is the price of a token of a
    layer's largest load, `hops` [G, G] of a transition between devices, `receipts` [G, G] of an expert that one device
    receives from another. At most `most_moves` slots get an expert that their device does not hold in the map `in_use`,
    any number if None. With `batches` the largest load is the mean of theirs, and
    `sharing` says how replicas share tokens; without, as many go to each.
    """

    loads: ExpertLoads
    counts: FloatArray
    token: float
    hops: FloatArray
    receipts: FloatArray
    in_use: IntArray | None = None
    most_moves: int | None = None
    batches: Batches | None = None
    sharing: Sharing = "equal"

    @property
    def mean_loads(self) -> FloatArray:
        """Return the mean over devices of the load over speed, of batches where there are some, [L]."""
        weight = self.loads.weight if self.batches is None else self.batches.mean
        return np.asarray(weight.sum(axis=1) / self.loads.speeds.sum())

    @property
    def has_links(self) -> bool:
        """Return whether transitions have a price."""
        return bool(self.counts.size and self.hops.any())

    @cached_property
    def prices(self) -> FloatArray:
        """Return the price of a move of each expert to each device, [L, E, G], from the nearest that holds it in use.

        It is 0 on devices that hold it, and everywhere where no map is in use.
        """
        loads, in_use = self.loads, self.in_use
        if in_use is None or not self.receipts.any():
            return np.zeros((loads.layers, loads.experts, loads.num_gpus))
        order = np.argsort(in_use, axis=1, kind="stable")
        number = count_replicas(in_use, loads.experts)
        first = np.cumsum(number, axis=1) - number
        rows = zip(order // loads.size, first, strict=True)
        return np.array([np.minimum.reduceat(self.receipts[held], start) for held, start in rows])


def price_slots(problem: SlotProblem, slots: IntArray) -> ExpertCost:
    """Return what a map costs. O(L E G (E + G))."""
    if problem.batches is None:
        load = float(gpu_times(problem.loads, slots).max(axis=1).sum())
    else:
        largest = find_largest(problem.loads, slots, problem.batches.loads, problem.sharing)
        load = float(problem.batches.weights @ largest.sum(axis=1))
    links = 0.0
    if problem.has_links:
        links = float((sum_flow(problem.counts, spread(problem.loads, slots)) * problem.hops).sum())
    moves = float(price_moves(problem, slots).sum())
    return ExpertCost(load=problem.token * load, links=links, moves=moves)


def price_moves(problem: SlotProblem, slots: IntArray) -> FloatArray:
    """Return what the experts that each device receives cost, [L, G], to get from the map in use to another one."""
    loads = problem.loads
    if problem.in_use is None:
        return np.zeros((loads.layers, loads.num_gpus))
    device = np.arange(loads.num_replicas) // loads.size
    shape = (loads.layers, loads.num_gpus, loads.size)
    prices = problem.prices[np.arange(loads.layers)[:, None], slots, device].reshape(shape)
    # A device receives an expert once, however many replicas of it get a slot.
    return np.asarray((prices * find_moved(problem.in_use.reshape(shape), slots.reshape(shape))).sum(axis=2))


def spread(loads: ExpertLoads, slots: IntArray) -> FloatArray:
    """Return which share of each expert's replicas is on each device, [L, E, G]."""
    return np.asarray(count_on_devices(loads, slots) / count_replicas(slots, loads.experts)[:, :, None])


def sum_flow(counts: FloatArray, share: FloatArray) -> FloatArray:
    """Return the transitions [G, G] from device to device, of all layers together, by shares of devices [L, E, G].

    Those of two experts are divided evenly among the pairs of their replicas.
    """
    flow = np.zeros((share.shape[2], share.shape[2]))
    for table, before, after in zip(counts, share, share[1:], strict=False):
        flow += before.T @ (table @ after)
    return flow


def count_moves(problem: SlotProblem, slots: IntArray) -> int:
    """Return how many slots get an expert that their device does not hold in the map in use."""
    if problem.in_use is None:
        return 0
    shape = (problem.loads.layers, problem.loads.num_gpus, problem.loads.size)
    return int(find_moved(problem.in_use.reshape(shape), slots.reshape(shape)).sum())


def keeps_rules(loads: ExpertLoads, slots: IntArray) -> bool:
    """Return whether all layers of a map have groups on nodes, and no expert too often on a device."""
    return bool(keep_to_rules(loads, slots.reshape(loads.layers, loads.num_gpus, -1)).all())


def count_on_devices(loads: ExpertLoads, slots: IntArray) -> IntArray:
    """Return how many replicas of each expert each device has, [L, E, G]."""
    layers, experts, devices = loads.layers, loads.experts, loads.num_gpus
    device = np.arange(loads.num_replicas) // loads.size
    flat = (np.arange(layers)[:, None] * experts + slots) * devices + device
    return np.bincount(flat.ravel(), minlength=layers * experts * devices).reshape(layers, experts, devices)
