"""Classes put on devices one after another, depth first, with loads that only grow."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.costs.tolerances import MEMORY, TOO_LARGE
from tiger.pipeline.operators.terms import Terms
from tiger.solvers.kernel import inner_kernel, kernel

# What is no better by more than this is not looked for; the bound that is claimed is less by SUMS.
CUT = 1 - 1e-12


class Given(NamedTuple):
    """Hold the arrays of terms that the search reads, with the work of classes `work[k, C]`, and labels of devices."""

    work: FloatArray
    send: FloatArray
    link: IntArray
    pays: FloatArray
    memory: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    of: IntArray
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
    """Hold where the search stands, by depth: loads, what is held, devices to try, and how many were.

    `place[C]` is -1 where a class has no device yet, `classes[k]` counts those of a device, `received[n, k]` the
    consumers of an operator that a device has, `most[n]` is what its sender pays, and `old` what that was before, for
    `changed[size[0]:]`. `at[0]` is the depth, `value[0]` the least largest load.
    """

    load: FloatArray
    held: FloatArray
    device: IntArray
    devices: IntArray
    tried: IntArray
    place: IntArray
    classes: IntArray
    received: IntArray
    most: FloatArray
    changed: IntArray
    old: FloatArray
    size: IntArray
    at: IntArray
    best: IntArray
    value: FloatArray


def search_input(terms: Terms, label: IntArray) -> Given:
    """Return what a search reads, for labels [k] of devices that can be exchanged; the classes that cost most first."""
    work = np.array([np.bincount(terms.of, row, terms.classes) for row in terms.work])
    least = np.where(terms.allowed.T, work, np.inf).min(axis=0)
    most = terms.send.max(axis=0, initial=0.0)
    ends = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    sent = np.bincount(terms.of[ends], most[ends], terms.classes)
    sent += np.bincount(terms.of[terms.consumer], most[ends], terms.classes)
    fraction = terms.memory / max(float(terms.memory.max(initial=0.0)), 1e-300)
    order = np.argsort(-(least + sent) - fraction * float(least.max(initial=0.0)), kind="stable")
    left = [np.append(np.cumsum(amount[order][::-1])[::-1], 0.0) for amount in (least, terms.memory)]
    return Given(
        work=work,
        send=terms.send,
        link=terms.link,
        pays=terms.pays,
        memory=terms.memory,
        capacity=terms.capacity * (1 + MEMORY),
        allowed=terms.allowed,
        of=terms.of,
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


def search_root(terms: Terms, limit: float) -> Tree:
    """Return the root of the search for a largest load below a limit."""
    classes, k, n = terms.classes, terms.devices, terms.operators
    edges = 2 * len(terms.consumer) + 1
    return Tree(
        load=np.zeros((classes + 1, k)),
        held=np.zeros((classes + 1, k)),
        device=np.zeros((classes + 1, k), np.int64),
        devices=np.full(classes + 1, -1),
        tried=np.zeros(classes + 1, np.int64),
        place=np.full(classes, -1),
        classes=np.zeros(k, np.int64),
        received=np.zeros((n, k), np.int64),
        most=np.zeros(n),
        changed=np.zeros(edges, np.int64),
        old=np.zeros(edges),
        size=np.zeros(classes + 2, np.int64),
        at=np.zeros(1, np.int64),
        best=np.full(classes, -1),
        value=np.array([limit]),
    )


@inner_kernel
def _send(given: Given, tree: Tree, load: FloatArray, depth: int, u: int, goal: int, source: int) -> None:
    """Charge for a consumer of operator u on another device."""
    tree.received[u, goal] += 1
    if tree.received[u, goal] > 1 or goal == source:
        return
    curve = given.link[source, goal]
    seconds = given.send[curve, u] if curve >= 0 else np.inf
    if given.pays[goal] > 0 or curve < 0:
        load[goal] += seconds
    if seconds > tree.most[u]:
        if given.pays[source] > 0:
            load[source] += seconds - tree.most[u]
        entry = tree.size[depth + 1]
        tree.changed[entry], tree.old[entry] = u, tree.most[u]
        tree.size[depth + 1] = entry + 1
        tree.most[u] = seconds


@inner_kernel
def _put(given: Given, tree: Tree, depth: int, d: int) -> None:
    """Put the class of a depth on a device, and charge for edges to classes that have one."""
    c, load = given.order[depth], tree.load[depth + 1]
    for each in range(len(load)):
        load[each], tree.held[depth + 1, each] = tree.load[depth, each], tree.held[depth, each]
    tree.held[depth + 1, d] += given.memory[c]
    load[d] += given.work[d, c]
    tree.place[c] = d
    tree.classes[d] += 1
    tree.size[depth + 1] = tree.size[depth]
    for q in range(given.member_start[c], given.member_start[c + 1]):
        u = given.member[q]
        for r in range(given.consumer_start[u], given.consumer_start[u + 1]):
            goal = tree.place[given.of[given.consumer[r]]]
            if goal >= 0:
                _send(given, tree, load, depth, u, goal, d)
        for r in range(given.producer_start[u], given.producer_start[u + 1]):
            v = given.producer[r]
            source = tree.place[given.of[v]]
            if source >= 0 and given.of[v] != c:
                _send(given, tree, load, depth, v, d, source)


@inner_kernel
def _take(given: Given, tree: Tree, depth: int) -> None:
    """Take the class of a depth off its device again."""
    c = given.order[depth]
    d = tree.place[c]
    for entry in range(tree.size[depth + 1] - 1, tree.size[depth] - 1, -1):
        tree.most[tree.changed[entry]] = tree.old[entry]
    for q in range(given.member_start[c], given.member_start[c + 1]):
        u = given.member[q]
        for r in range(given.consumer_start[u], given.consumer_start[u + 1]):
            goal = tree.place[given.of[given.consumer[r]]]
            if goal >= 0:
                tree.received[u, goal] -= 1
        for r in range(given.producer_start[u], given.producer_start[u + 1]):
            v = given.producer[r]
            if tree.place[given.of[v]] >= 0 and given.of[v] != c:
                tree.received[v, d] -= 1
    tree.place[c] = -1
    tree.classes[d] -= 1


@inner_kernel
def _open(given: Given, tree: Tree, depth: int) -> None:
    """List the devices for the class of a depth, the least loaded first, of empty ones the first of each label."""
    c, count = given.order[depth], 0
    for d in range(len(given.pays)):
        if not given.allowed[c, d] or tree.held[depth, d] + given.memory[c] > given.capacity[d]:
            continue
        used = tree.classes[d] > 0
        twin = False
        for other in range(d):
            twin = twin or (not used and given.label[other] == given.label[d] and tree.classes[other] == 0)
        if twin:
            continue
        spot = count
        while spot > 0 and _load_after(given, tree, depth, tree.device[depth, spot - 1]) > _load_after(
            given, tree, depth, d
        ):
            tree.device[depth, spot] = tree.device[depth, spot - 1]
            spot -= 1
        tree.device[depth, spot] = d
        count += 1
    tree.devices[depth], tree.tried[depth] = count, 0


@inner_kernel
def _load_after(given: Given, tree: Tree, depth: int, d: int) -> float:
    """Return the load of a device once it does the work of the class of a depth."""
    return float(tree.load[depth, d] + given.work[d, given.order[depth]])


@inner_kernel
def _is_hopeless(given: Given, tree: Tree, depth: int) -> bool:
    """Return whether the loads of a depth, or these and what is left spread evenly, reach the best."""
    limit, total, room, held = tree.value[0] * CUT, given.left_s[depth], 0.0, given.left_bytes[depth]
    for d in range(len(given.pays)):
        if tree.load[depth, d] >= limit:
            return True
        total += tree.load[depth, d]
        # Sums, not what each device has left: beside 1e12 bytes a difference loses the small ones.
        room += given.capacity[d]
        held += tree.held[depth, d]
    return bool(total >= limit * len(given.pays) or held > room * (1 + TOO_LARGE))


@inner_kernel
def _keep(tree: Tree, last: int) -> None:
    """Remember a placement of all classes, and its largest load."""
    tree.value[0] = 0.0
    for d in range(tree.load.shape[1]):
        tree.value[0] = max(tree.value[0], tree.load[last, d])
    for c in range(last):
        tree.best[c] = tree.place[c]


@kernel
def search(given: Given, tree: Tree, nodes: int) -> bool:
    """Go on for some nodes from where the tree stands; return whether nothing is left to try."""
    depth, last = tree.at[0], len(given.order)
    if tree.devices[depth] < 0:
        _open(given, tree, depth)
    for _ in range(nodes):
        if tree.tried[depth] == tree.devices[depth]:
            if depth == 0:
                return True
            depth -= 1
            _take(given, tree, depth)
            continue
        d = tree.device[depth, tree.tried[depth]]
        tree.tried[depth] += 1
        _put(given, tree, depth, d)
        if not _is_hopeless(given, tree, depth + 1):
            depth += 1
            if depth < last:
                _open(given, tree, depth)
                continue
            depth -= 1
            _keep(tree, last)
        _take(given, tree, depth)
    tree.at[0] = depth
    return False
