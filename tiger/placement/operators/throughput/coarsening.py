"""Coarser terms: several groups become one, and loads of placements stay the same."""

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import FloatArray, IntArray, distinct
from tiger.placement.operators.terms import Terms, group_by_key
from tiger.solvers.kernel import allocating_kernel
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.coarsening import cluster as match_vertices

# The vertex weights of the matching are whole numbers, in millionths of an average group's share.
PARTS = 1_000_000


def coarsen(terms: Terms, label: IntArray) -> Terms:
    """Return terms whose groups are those of one label `label[C]`, 0 to the largest all used.

    Every load of a placement of them is that of the same placement carried down, `place[label]`. Operators of a group
    and pass become one if the same groups and passes beside their own consume them, for then they send the same
    messages, and their links rank alike, so that the longest of their messages take one way; those that nobody else
    consumes need no identity. O(k n + e log e).
    """
    owner, passes = label[terms.group_of], 2 * label[terms.group_of] + terms.backward
    sender, goal = _messages(terms, owner, passes)
    number = _merged_numbers(terms, passes, sender, goal)
    count = int(number.max()) + 1
    sends = np.zeros(terms.operators, np.bool_)
    sends[sender] = True
    # Messages arrive at a group and pass, whichever of its operators consumes them: its first stands for all.
    receiver = np.zeros(2 * int(label.max()) + 2, np.int64)
    receiver[passes[::-1]] = number[::-1]
    source, target = np.divmod(distinct(number[sender] * count + receiver[goal]), count)
    of = np.zeros(count, np.int64)
    of[number] = owner
    backward = np.zeros(count, np.bool_)
    backward[number] = terms.backward
    groups = int(label.max()) + 1
    allowed = np.ones((groups, terms.devices), np.bool_)
    np.logical_and.at(allowed, label, terms.allowed)
    member_start, member = group_by_key(of, np.arange(count), groups)
    consumer_start, consumer = group_by_key(source, target, count)
    producer_start, producer = group_by_key(target, source, count)
    return Terms(
        work=_sum_by_number(number, terms.work, count),
        send=_sum_by_number(number[sends], terms.send[:, sends], count),
        link=terms.link,
        pays=terms.pays,
        memory=np.bincount(label, terms.memory, groups).astype(np.float64),
        capacity=terms.capacity,
        allowed=allowed,
        group_of=of,
        member_start=member_start,
        member=member,
        consumer_start=consumer_start,
        consumer=consumer,
        producer_start=producer_start,
        producer=producer,
        backward=backward,
    )


def cluster_labels(terms: Terms, part: IntArray, size: int, seed: int) -> IntArray:
    """Return labels that join groups with those they exchange the most with, about two at a time.

    None of them has more than a share of one in `size` of all work or memory, unless a group of its own has that;
    groups of different parts `part[C]` stay apart, and those that may go to different devices. O(e log e).
    """
    graph = Graph(*_exchanges(terms), _parts(terms), np.zeros(terms.groups, np.int64), np.zeros(terms.groups))
    label = np.empty(terms.groups, np.int64)
    cap = max(PARTS * terms.groups // size, 1)
    rule, bound = np.zeros(terms.groups, np.int64), ~terms.allowed.all(axis=1)
    rule[bound] = 1 + np.unique(terms.allowed[bound], axis=0, return_inverse=True)[1].reshape(-1)
    _match_seeded(graph, part * (int(rule.max()) + 1) + rule, cap, label, seed)
    return label


def blocks(terms: Terms, position: IntArray, size: int) -> IntArray:
    """Return labels that join groups next to each other on a line, `position[C]`, into about `size` blocks."""
    share = np.cumsum(np.bincount(position, _parts(terms)))
    block = np.unique(np.minimum(share * size // (share[-1] + 1), size - 1), return_inverse=True)[1]
    label: IntArray = block.astype(np.int64)[position]
    return label


def _messages(terms: Terms, owner: IntArray, passes: IntArray) -> tuple[IntArray, IntArray]:
    """Return every operator and pass beside its own group that receives from it once, in the order of operators."""
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    leaves = owner[producer] != owner[terms.consumer]
    size = int(passes.max()) + 1
    key = distinct(producer[leaves] * size + passes[terms.consumer[leaves]])
    return key // size, key % size


def _merged_numbers(terms: Terms, passes: IntArray, sender: IntArray, goal: IntArray) -> IntArray:
    """Return a number per operator, equal for those that become one."""
    degree, ranks = np.bincount(sender, minlength=terms.operators), _ranks(terms)
    start = np.concatenate([[0], np.cumsum(degree)])
    # Sums of random numbers propose operators that are alike, and these are then compared one by one.
    value = np.random.default_rng(0).integers(2**62, size=(3, int(passes.max()) + 1))
    total = np.concatenate([[0], np.cumsum(value[0][goal])])
    proposed = total[start[1:]] - total[start[:-1]] + value[1][passes] + ranks * value[2, 0]
    _, first, number = np.unique(proposed, return_index=True, return_inverse=True)
    same_as = first[number]
    differ = (passes != passes[same_as]) | (degree != degree[same_as]) | (ranks != ranks[same_as])
    same = ~differ[sender]
    at = start[same_as[sender]] + np.arange(len(sender)) - start[sender]
    differ[sender[same][goal[at[same]] != goal[same]]] = True
    number[differ] = len(first) + np.arange(int(differ.sum()))
    return _absorb(number, passes, degree)


def _ranks(terms: Terms) -> IntArray:
    """Return a number per operator, equal where the links rank alike by how long its messages take."""
    if len(terms.send) < 2:
        return np.zeros(terms.operators, np.int64)
    order = np.argsort(terms.send, axis=0, kind="stable")
    return np.unique(order, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _absorb(number: IntArray, passes: IntArray, degree: IntArray) -> IntArray:
    """Return the numbers with operators that send nothing given to a sender of their pass, counted again."""
    sends = np.flatnonzero(degree)
    host = np.full(int(passes.max()) + 1, -1, np.int64)
    host[passes[sends][::-1]] = number[sends][::-1]
    number = np.where((degree == 0) & (host[passes] >= 0), host[passes], number)
    used = np.zeros(int(number.max()) + 1, np.bool_)
    used[number] = True
    return (np.cumsum(used) - 1)[number]


def _sum_by_number(number: IntArray, rows: FloatArray, count: int) -> FloatArray:
    """Return every row summed by number [.., count]."""
    return np.array([np.bincount(number, row, count) for row in rows]).reshape(len(rows), count)


def _parts(terms: Terms) -> IntArray:
    """Return the share of work or memory of every group, the larger one, in millionths of an average group's share."""
    work = np.bincount(terms.group_of, terms.work.min(axis=0), terms.groups)
    shares = [amount / amount.sum() for amount in (work, terms.memory) if amount.sum() > 0]
    share = np.max(shares, axis=0) if shares else np.zeros(terms.groups)
    return np.maximum(np.ceil(share * terms.groups * PARTS), 1).astype(np.int64)


def _exchanges(terms: Terms) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the groups that each one exchanges messages with, and for how long [C + 1], [.], [.]."""
    sender, goal = _messages(terms, terms.group_of, 2 * terms.group_of)
    seconds = terms.send.mean(axis=0)[sender] if len(terms.send) else np.zeros(len(sender))
    # Messages that take no time still hold together what may share a device.
    flow = seconds + max(float(seconds.mean()) if len(seconds) else 0.0, 1e-300) * 1e-3
    size = terms.groups
    one_way = sp.coo_array((flow, (terms.group_of[sender], goal // 2)), shape=(size, size)).tocsr()
    both = (one_way + one_way.T).tocsr()
    return both.indptr.astype(np.int64), both.indices.astype(np.int64), both.data.astype(np.float64)


@allocating_kernel
def _match_seeded(graph: Graph, side: IntArray, cap: int, label: IntArray, seed: int) -> int:
    """Join vertices of a side after seeding the generator that their order comes from."""
    np.random.seed(seed)  # noqa: NPY002  # compiled code has numba's generator alone
    return match_vertices(graph, side, cap, label)
