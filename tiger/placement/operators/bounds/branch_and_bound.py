"""Depth-first branch and bound: groups are assigned to devices one after another, and loads only grow.

Source: A. H. Land, A. G. Doig, Econometrica 28 (1960), doi:10.2307/1910129.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.rounding import TIE
from tiger.placement.operators.terms import Terms
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.training.costs.tolerances import MEMORY, TOO_LARGE

# Placements that are better by less, relatively, are not looked for; the bound that is claimed is lower by SUMS.
CUT = 1 - TIE


class OperatorInstance(NamedTuple):
    """Hold the arrays of terms that the search reads, the work of groups `work[k, C]`, and labels of devices.

    `order[C]` are the groups by depth, `left_s` and `left_bytes` [C + 1] what those from a depth on need at least.
    """

    work: FloatArray
    send: FloatArray
    link: IntArray
    pays: FloatArray
    memory: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    group_of: IntArray
    member_start: IntArray
    member: IntArray
    consumer_start: IntArray
    consumer: IntArray
    producer_start: IntArray
    producer: IntArray
    label: IntArray
    order: IntArray
    left_s: FloatArray
    left_bytes: FloatArray


class Tree(NamedTuple):
    """Hold the path of the search by depth: loads, held bytes, devices to try, and how many were tried.

    `place[C]` is -1 where a group has no device yet, `groups[k]` counts those of a device, `received[n, k]` the
    consumers of an operator that a device has, `most[n]` is what its sender pays, and `old` what that was before, for
    `changed[size[0]:]`. `at[0]` is the depth, `value[0]` the least largest load.
    """

    load: FloatArray
    held: FloatArray
    device: IntArray
    devices: IntArray
    tried: IntArray
    place: IntArray
    groups: IntArray
    received: IntArray
    most: FloatArray
    changed: IntArray
    old: FloatArray
    size: IntArray
    at: IntArray
    best: IntArray
    value: FloatArray


def make_instance(terms: Terms, label: IntArray) -> OperatorInstance:
    """Return the instance, for labels [k] of devices that can be exchanged; the groups that cost most come first."""
    work = np.array([np.bincount(terms.group_of, row, terms.groups) for row in terms.work])
    least = np.where(terms.allowed.T, work, np.inf).min(axis=0)
    most = terms.send.max(axis=0, initial=0.0)
    ends = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    sent = np.bincount(terms.group_of[ends], most[ends], terms.groups)
    sent += np.bincount(terms.group_of[terms.consumer], most[ends], terms.groups)
    fraction = terms.memory / max(float(terms.memory.max(initial=0.0)), 1e-300)
    order = np.argsort(-(least + sent) - fraction * float(least.max(initial=0.0)), kind="stable")
    left = [np.append(np.cumsum(amount[order][::-1])[::-1], 0.0) for amount in (least, terms.memory)]
    return OperatorInstance(
        work=work,
        send=terms.send,
        link=terms.link,
        pays=terms.pays,
        memory=terms.memory,
        capacity=terms.capacity * (1 + MEMORY),
        allowed=terms.allowed,
        group_of=terms.group_of,
        member_start=terms.member_start,
        member=terms.member,
        consumer_start=terms.consumer_start,
        consumer=terms.consumer,
        producer_start=terms.producer_start,
        producer=terms.producer,
        label=label,
        order=order,
        left_s=left[0],
        left_bytes=left[1],
    )


def make_root(terms: Terms, limit: float) -> Tree:
    """Return the root of the search for a largest load below a limit."""
    groups, k, n = terms.groups, terms.devices, terms.operators
    edges = 2 * len(terms.consumer) + 1
    return Tree(
        load=np.zeros((groups + 1, k)),
        held=np.zeros((groups + 1, k)),
        device=np.zeros((groups + 1, k), np.int64),
        devices=np.full(groups + 1, -1),
        tried=np.zeros(groups + 1, np.int64),
        place=np.full(groups, -1),
        groups=np.zeros(k, np.int64),
        received=np.zeros((n, k), np.int64),
        most=np.zeros(n),
        changed=np.zeros(edges, np.int64),
        old=np.zeros(edges),
        size=np.zeros(groups + 2, np.int64),
        at=np.zeros(1, np.int64),
        best=np.full(groups, -1),
        value=np.array([limit]),
    )


@inner_kernel
def _charge(
    instance: OperatorInstance, tree: Tree, load: FloatArray, depth: int, u: int, goal: int, source: int
) -> None:
    """Add the message for a consumer of operator u on device `goal` to the loads, unless it is sent there already."""
    tree.received[u, goal] += 1
    # A device gets the output once, for all consumers on it; one that computed it needs no message.
    if tree.received[u, goal] > 1 or goal == source:
        return
    curve = instance.link[source, goal]
    seconds = instance.send[curve, u] if curve >= 0 else np.inf
    if instance.pays[goal] > 0 or curve < 0:
        load[goal] += seconds
    # The sender pays for its longest message; the one before is noted, to be put back by `_unassign`.
    if seconds > tree.most[u]:
        if instance.pays[source] > 0:
            load[source] += seconds - tree.most[u]
        entry = tree.size[depth + 1]
        tree.changed[entry], tree.old[entry] = u, tree.most[u]
        tree.size[depth + 1] = entry + 1
        tree.most[u] = seconds


@inner_kernel
def _assign(instance: OperatorInstance, tree: Tree, depth: int, d: int) -> None:
    """Assign the group of a depth to a device, and add messages to and from groups that have one."""
    c, load = instance.order[depth], tree.load[depth + 1]
    # Each depth has loads and bytes of its own, so that going back restores them.
    for each in range(len(load)):
        load[each], tree.held[depth + 1, each] = tree.load[depth, each], tree.held[depth, each]
    tree.held[depth + 1, d] += instance.memory[c]
    load[d] += instance.work[d, c]
    tree.place[c] = d
    tree.groups[d] += 1
    tree.size[depth + 1] = tree.size[depth]
    for q in range(instance.member_start[c], instance.member_start[c + 1]):
        u = instance.member[q]
        # Messages to consumers that have a device; those of the group itself are on d and cost none.
        for r in range(instance.consumer_start[u], instance.consumer_start[u + 1]):
            goal = tree.place[instance.group_of[instance.consumer[r]]]
            if goal >= 0:
                _charge(instance, tree, load, depth, u, goal, d)
        # Messages from producers of other groups that have a device.
        for r in range(instance.producer_start[u], instance.producer_start[u + 1]):
            v = instance.producer[r]
            source = tree.place[instance.group_of[v]]
            if source >= 0 and instance.group_of[v] != c:
                _charge(instance, tree, load, depth, v, d, source)


@inner_kernel
def _unassign(instance: OperatorInstance, tree: Tree, depth: int) -> None:
    """Undo the assignment of the group of a depth; loads are kept by depth and need no undoing."""
    c = instance.order[depth]
    d = tree.place[c]
    # Last first, as the longest message of an operator may have grown more than once.
    for entry in range(tree.size[depth + 1] - 1, tree.size[depth] - 1, -1):
        tree.most[tree.changed[entry]] = tree.old[entry]
    # The counts of receivers fall by what `_assign` added, the group still being in its place.
    for q in range(instance.member_start[c], instance.member_start[c + 1]):
        u = instance.member[q]
        for r in range(instance.consumer_start[u], instance.consumer_start[u + 1]):
            goal = tree.place[instance.group_of[instance.consumer[r]]]
            if goal >= 0:
                tree.received[u, goal] -= 1
        for r in range(instance.producer_start[u], instance.producer_start[u + 1]):
            v = instance.producer[r]
            if tree.place[instance.group_of[v]] >= 0 and instance.group_of[v] != c:
                tree.received[v, d] -= 1
    tree.place[c] = -1
    tree.groups[d] -= 1


@inner_kernel
def _list_devices(instance: OperatorInstance, tree: Tree, depth: int) -> None:
    """List the devices for the group of a depth, the least loaded first."""
    c, count = instance.order[depth], 0
    for d in range(len(instance.pays)):
        if not instance.allowed[c, d] or tree.held[depth, d] + instance.memory[c] > instance.capacity[d]:
            continue
        used = tree.groups[d] > 0
        # Of empty devices with one label, which can be exchanged, the first stands for all.
        repeated = False
        for other in range(d):
            repeated = repeated or (not used and instance.label[other] == instance.label[d] and tree.groups[other] == 0)
        if repeated:
            continue
        # Insertion into the list sorted by load.
        spot = count
        while spot > 0 and _load_after(instance, tree, depth, tree.device[depth, spot - 1]) > _load_after(
            instance, tree, depth, d
        ):
            tree.device[depth, spot] = tree.device[depth, spot - 1]
            spot -= 1
        tree.device[depth, spot] = d
        count += 1
    tree.devices[depth], tree.tried[depth] = count, 0


@inner_kernel
def _load_after(instance: OperatorInstance, tree: Tree, depth: int, d: int) -> float:
    """Return the load of a device once it does the work of the group of a depth."""
    return float(tree.load[depth, d] + instance.work[d, instance.order[depth]])


@inner_kernel
def _is_hopeless(instance: OperatorInstance, tree: Tree, depth: int) -> bool:
    """Return whether no completion of a depth is better than the best, by its loads, its total work or its memory."""
    limit, total, room, held = tree.value[0] * CUT, instance.left_s[depth], 0.0, instance.left_bytes[depth]
    for d in range(len(instance.pays)):
        if tree.load[depth, d] >= limit:
            return True
        # Work that is left is spread evenly at best, on its fastest devices.
        total += tree.load[depth, d]
        # Sums, not what each device has left: beside 1e12 bytes a difference loses the small ones.
        room += instance.capacity[d]
        held += tree.held[depth, d]
    return bool(total >= limit * len(instance.pays) or held > room * (1 + TOO_LARGE))


@inner_kernel
def _store_best(tree: Tree, last: int) -> None:
    """Store a placement of all groups, and its largest load."""
    tree.value[0] = 0.0
    for d in range(tree.load.shape[1]):
        tree.value[0] = max(tree.value[0], tree.load[last, d])
    for c in range(last):
        tree.best[c] = tree.place[c]


@kernel
def search(instance: OperatorInstance, tree: Tree, nodes: int) -> bool:
    """Search some more nodes of the tree; return whether the tree is exhausted."""
    depth, last = tree.at[0], len(instance.order)
    if tree.devices[depth] < 0:
        _list_devices(instance, tree, depth)
    for _ in range(nodes):
        # Backtrack where all devices of a depth have been tried.
        if tree.tried[depth] == tree.devices[depth]:
            if depth == 0:
                return True
            depth -= 1
            _unassign(instance, tree, depth)
            continue
        # Branch: the next device for the group of this depth.
        d = tree.device[depth, tree.tried[depth]]
        tree.tried[depth] += 1
        _assign(instance, tree, depth, d)
        if not _is_hopeless(instance, tree, depth + 1):
            depth += 1
            if depth < last:
                _list_devices(instance, tree, depth)
                continue
            depth -= 1
            _store_best(tree, last)
        _unassign(instance, tree, depth)
    tree.at[0] = depth
    return False
