"""The simple orders in which tasks can be dealt out to nodes, and what they cost: the measure of every mapping.

A ring lists the places that free tasks can take: the slots of the nodes, round by round, under the capacity rule,
otherwise the nodes, both in the order in which launchers fill them. Task k of an exclusivity group takes place
`turn + k` of the ring. In the cyclic order each group goes on where the one before it ended; for random mappings the
ring is shuffled and the turn of each group drawn, so that any two tasks are as likely on one pair of places as on any
other that the rule allows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, IntArray
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of, costs_of, violations
from tiger.run.report import Baselines

# Random mappings that the mean is taken of, drawn from a seed of their own so that no request changes them.
DRAWS, SEED = 10, 0
CELLS = 1 << 21  # Places looked at to make one order feasible, about 50 ms of them.


@dataclass(frozen=True, slots=True, eq=False)
class _Deal:
    """Hold a problem, the nodes `ring[s]`, the free `tasks[k]`, their groups `group[k]`, and ranks `rank[k]` in these.

    `sizes[g]` is how many tasks a group has.
    """

    problem: Problem
    ring: IntArray
    tasks: IntArray
    group: IntArray
    rank: IntArray
    sizes: IntArray


class Orders(NamedTuple):
    """Hold places [n] that are known before a search: in blocks, which is the launch order, in turns, and its start.

    None for an order that has not been made feasible, and for a start that is not given.
    """

    block: IntArray | None
    cyclic: IntArray | None
    start: IntArray | None = None


def baselines(problem: Problem, orders: Orders) -> Baselines:
    """Return the costs of the simple orders, and of the mapping that a search starts from.

    Where an order breaks a constraint, tasks exchange places with others further along the ring; where that does not
    make it feasible, as where traffic would cross disconnected parts of the hardware, its cost is None. Random is the
    mean of ten mappings, the same in every run. O(n log n + m + edges) for each mapping.
    """
    drawn = [cost.total for cost in costs_of(problem, _random_orders(problem))]
    known = orders._asdict().items()
    return Baselines(
        **{name: None if places is None else cost_of(problem, places).total for name, places in known},
        random=sum(drawn) / DRAWS if len(drawn) == DRAWS else None,
    )


def cyclic_order(problem: Problem) -> IntArray | None:
    """Return places[n] of tasks dealt out to the nodes in turns, None where that has not been made feasible."""
    deal = _deal(problem)
    places = _place(deal, np.cumsum(deal.sizes) - deal.sizes)
    return places if _is_feasible(problem, places) else None


def _deal(problem: Problem) -> _Deal:
    """Return the tasks to be dealt out, and the ring of nodes for them."""
    tasks = problem.free
    group = np.maximum(problem.group_of[tasks], 0)
    order, sizes = np.argsort(group, kind="stable"), np.bincount(group, minlength=1)
    rank = np.empty(len(tasks), np.int64)
    rank[order] = np.arange(len(tasks)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return _Deal(problem, _ring(problem), tasks, group, rank, sizes)


def _ring(problem: Problem) -> IntArray:
    """Return the nodes in turn, under the capacity rule in as many rounds as it takes to place every free task."""
    hosts, pinned = problem.topology.launch_hosts, problem.pins[problem.pins >= 0]
    if problem.groups:
        # Several groups share the ring: what the pinned tasks of one hold is open to the others.
        open_ = hosts if len(problem.groups) > 1 else hosts[~np.isin(hosts, pinned)]
        return _deal_machines(problem, open_)
    left = (problem.topology.slots - np.bincount(pinned, minlength=problem.topology.size))[hosts]
    least, most = 0, problem.free.size
    while least < most:
        rounds = (least + most) // 2
        enough = np.minimum(left, rounds).sum() >= problem.free.size
        least, most = (least, rounds) if enough else (rounds + 1, most)
    times = np.minimum(left, least)
    turn = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    return _deal_machines(problem, np.repeat(hosts, times)[np.argsort(turn, kind="stable")])


def _deal_machines(problem: Problem, ring: IntArray) -> IntArray:
    """Return places in another order: the first of every machine, then the second of every machine, and so on."""
    # Machines are numbered as they come.
    _, first, inverse = np.unique(problem.topology.machines[ring], return_index=True, return_inverse=True)
    machine = np.argsort(np.argsort(first))[inverse]
    order = np.argsort(machine, kind="stable")
    counts = np.bincount(machine)
    turn = np.empty(len(ring), np.int64)
    turn[order] = np.arange(len(ring)) - np.repeat(np.cumsum(counts) - counts, counts)
    return ring[np.lexsort((machine, turn))]


def _random_orders(problem: Problem) -> Iterator[IntArray]:
    """Yield random mappings, the same in every run, up to the first that is not feasible."""
    rng, deal = np.random.default_rng(SEED), _deal(problem)
    for _ in range(DRAWS):
        turns = rng.integers(len(deal.ring) or 1, size=len(deal.sizes))
        places = _place(replace(deal, ring=rng.permutation(deal.ring)), turns)
        if not _is_feasible(problem, places):
            return
        yield places


def _is_feasible(problem: Problem, places: IntArray) -> bool:
    """Return whether no task is misplaced, and no traffic has to cross disconnected parts of the hardware."""
    split = problem.metric is not problem.topology.metric
    return not _find_misplaced(problem, places).any() and not (split and violations(problem, places))


def _place(deal: _Deal, turns: IntArray) -> IntArray:
    """Return places[n] with the groups dealt out from `turns[g]` on, misplaced tasks exchanged where that helps."""
    positions = (turns[deal.group] + deal.rank) % (len(deal.ring) or 1)
    places = deal.problem.pins.copy()
    places[deal.tasks] = deal.ring[positions]
    wrong = _find_misplaced(deal.problem, places)
    if wrong.any():
        _exchange(deal, places, positions, wrong)
    return places


def _find_misplaced(problem: Problem, places: IntArray) -> BoolArray:
    """Return wrong[n]: free tasks on a node that is closed to them, and those beyond the memory of their node."""
    wrong = np.zeros(len(places), bool)
    wrong[problem.free] = ~_is_open(problem, problem.free, places[problem.free])
    memory, room = problem.tasks.memory, problem.topology.memory
    if memory is None or room is None or problem.groups:
        return wrong
    order = np.lexsort((problem.pins < 0, places))
    first = np.flatnonzero(np.diff(places[order], prepend=-1))
    filled = np.cumsum(memory[order])
    filled -= np.repeat(filled[first] - memory[order[first]], np.diff(first, append=len(order)))
    wrong[order] |= (filled > room[places[order]]) & (problem.pins[order] < 0)
    return wrong


def _is_open(problem: Problem, tasks: IntArray, nodes: IntArray) -> BoolArray:
    """Return whether nodes are not forbidden to tasks, nor held by a pinned task of their group, nor too small."""
    size, memory, room = problem.topology.size, problem.tasks.memory, problem.topology.memory
    closed = np.zeros(len(tasks), bool)
    if len(problem.banned):
        closed |= _contains(problem.banned[:, 0] * size + problem.banned[:, 1], tasks * size + nodes)
    if len(problem.groups) > 1 and problem.pinned:
        pinned = np.flatnonzero(problem.pins >= 0)
        pins = np.sort(problem.group_of[pinned] * size + problem.pins[pinned])
        closed |= _contains(pins, problem.group_of[tasks] * size + nodes)
    if problem.groups and memory is not None and room is not None:
        closed |= memory[tasks] > room[nodes]
    return ~closed


def _contains(keys: IntArray, wanted: IntArray) -> BoolArray:
    """Return whether sorted keys, of which there are some, have the wanted ones."""
    return np.asarray(keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted)


def _exchange(deal: _Deal, places: IntArray, positions: IntArray, wrong: BoolArray) -> None:
    """Exchange misplaced tasks, in `places[n]` and `positions[k]`, with the next of the ring that suits both."""
    problem, size, moved = deal.problem, len(deal.ring), np.flatnonzero(wrong[deal.tasks])
    if len(deal.sizes) * size > CELLS or len(moved) * (size + len(problem.banned)) > CELLS:
        return
    spare, load = _spare(problem, places)
    at = np.full((len(deal.sizes), size), -1)
    at[deal.group, positions] = np.arange(len(positions))
    for k in moved.tolist():
        task, row = deal.tasks[k], at[deal.group[k]]
        node, ahead = places[task], (positions[k] + np.arange(1, size)) % size
        there, other = deal.ring[ahead], row[ahead]
        partner = deal.tasks[other]
        gain = load[task] - np.where(other < 0, 0, load[partner])
        good = _is_open(problem, np.full(size - 1, task), there) & (spare[there] >= gain) & (there != node)
        good &= (other < 0) | _is_open(problem, partner, np.full(size - 1, node))
        good &= (gain > 0) | (spare[node] >= -gain)
        if (spare[node] >= 0 and _is_open(problem, task[None], node[None]).all()) or not good.any():
            continue
        j = int(good.argmax())
        spare[node], spare[there[j]] = spare[node] + gain[j], spare[there[j]] - gain[j]
        row[positions[k]], row[ahead[j]] = other[j], k
        if other[j] >= 0:
            places[partner[j]], positions[other[j]] = node, positions[k]
        places[task], positions[k] = there[j], ahead[j]


def _spare(problem: Problem, places: IntArray) -> tuple[IntArray, IntArray]:
    """Return the memory spare[m] that the nodes have left and load[n], all 0 where memory is not added up."""
    memory, room = problem.tasks.memory, problem.topology.memory
    if memory is None or room is None or problem.groups:
        return np.zeros(problem.topology.size, np.int64), np.zeros(problem.tasks.size, np.int64)
    spare = room.copy()
    np.subtract.at(spare, places, memory)
    return spare, memory
