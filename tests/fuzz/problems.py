"""Small mapping problems whose weights span many orders of magnitude, drawn from a seed."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology

RULES = ("one-to-one", "levels", "capacity")
HARDWARE = ("dense", "skew", "links", "grid", "torus", "tree", "split")
MIXES = ("ordinary", "wild", "few huge", "near ties", "whole", "whole huge")
MOST_MAPPINGS = 8_000

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Say what a problem is drawn from: rule, hardware, and the weights of traffic, distances and computing."""

    rule: str
    hardware: str
    mix_weights: tuple[str, str, str]
    seed: int


def drawing_of(seed: int) -> Drawing:
    """Draw rule, hardware and weights; two thirds of the problems have one mix of weights for all."""
    rng = np.random.default_rng(seed)
    mix_weights = rng.choice(MIXES, 3) if rng.random() < 1 / 3 else np.repeat(rng.choice(MIXES), 3)
    return Drawing(str(rng.choice(RULES)), str(rng.choice(HARDWARE)), tuple(map(str, mix_weights)), seed)


def problem_of(drawing: Drawing) -> Problem:
    """Draw a problem of up to 7 tasks on up to 7 nodes and no more than 8,000 mappings; it may be infeasible."""
    rng = np.random.default_rng([drawing.seed, 1])
    nodes = int(rng.integers(2, 8))
    most = min(7, int(np.log(MOST_MAPPINGS) / np.log(nodes)), nodes if drawing.rule == "one-to-one" else 7)
    size = int(rng.integers(2, most + 1))
    tasks, topology = _tasks(drawing, size, rng), _topology(drawing, nodes, size, rng)
    pinned, banned = np.zeros(size, bool), np.zeros((size, nodes), bool)
    if rng.random() < 0.25:
        pinned, banned = rng.random(size) < 0.3, rng.random((size, nodes)) < 0.15
    pins = {tasks.names[t]: topology.names[rng.integers(nodes)] for t in np.flatnonzero(pinned)}
    pairs = frozenset((tasks.names[t], topology.names[p]) for t, p in np.argwhere(banned))
    return Problem(tasks=tasks, topology=topology, rule=drawing.rule, pinned=pins, forbidden=pairs)


def scale_costs(problem: Problem, traffic: float, compute: float) -> Problem:
    """Return the problem with traffic and the costs of nodes multiplied."""
    tasks = replace(problem.tasks, traffic=sp.csr_array(problem.tasks.traffic * traffic))
    return replace(problem, tasks=tasks, topology=replace(problem.topology, cost=problem.topology.cost * compute))


def _weights(mix: str, count: int, rng: np.random.Generator) -> Numbers:
    """Draw weights >= 0 of a mix."""
    small = rng.integers(0, 10, count).astype(float)
    if mix == "wild":
        return np.where(rng.random(count) < 0.1, 0.0, 10 ** rng.uniform(-9, 12, count))
    if mix == "few huge":
        return np.where(rng.random(count) < 0.25, 10 ** rng.uniform(6, 12, count), rng.uniform(0, 10, count))
    if mix == "near ties":
        return rng.integers(1, 4, count) * (1 + rng.integers(0, 4, count) * 10 ** rng.uniform(-14, -8))
    if mix == "whole huge":
        return np.where(rng.random(count) < 0.25, float(10 ** rng.integers(6, 13)), small)
    return small if mix == "whole" else rng.uniform(0, 10, count)


def _tasks(drawing: Drawing, size: int, rng: np.random.Generator) -> TaskGraph:
    """Draw a task graph: without cycles and loops under the levels rule and half the time else."""
    volumes = _weights(drawing.mix_weights[0], size * size, rng).reshape(size, size)
    volumes[rng.random((size, size)) < rng.uniform(0, 0.8)] = 0.0
    ordered = drawing.rule == "levels" or rng.random() < 0.5
    mirrored = not ordered and rng.random() < 0.3
    volumes = np.triu(volumes, 1) if ordered else np.triu(volumes) + np.triu(volumes, 1).T if mirrored else volumes
    return TaskGraph(
        names=tuple(f"t{k}" for k in range(size)),
        traffic=sp.csr_array(volumes),
        work=_weights(drawing.mix_weights[2], size, rng) if rng.random() < 0.6 else np.ones(size),
        memory=rng.integers(0, 5, size) if rng.random() < 0.3 else None,
        directed=ordered or rng.random() < 0.5,
    )


def _topology(drawing: Drawing, nodes: int, tasks: int, rng: np.random.Generator) -> Topology:
    """Draw hardware with slots, memory and prices."""
    bare = _bare(drawing, nodes, rng)
    share = -(-tasks // nodes)
    return replace(
        bare,
        slots=rng.integers(share, share + 3, nodes) if rng.random() < 0.9 else rng.integers(0, 4, nodes),
        cost=_weights(drawing.mix_weights[2], nodes, rng) if rng.random() < 0.5 else np.zeros(nodes),
        memory=rng.integers(3, 12, nodes) if rng.random() < 0.5 else None,
    )


def _bare(drawing: Drawing, nodes: int, rng: np.random.Generator) -> Topology:
    """Draw hardware of a kind."""
    mix, names = drawing.mix_weights[1], tuple(f"p{k}" for k in rng.permutation(nodes))
    if drawing.hardware in ("grid", "torus"):
        dims = (nodes // 2, 2) if nodes % 2 == 0 and nodes > 2 else (nodes,)
        wrap = tuple(bool(drawing.hardware == "torus" and rng.random() < 0.7) for _ in dims)
        metric = GridMetric(dims, wrap, float(_weights(mix, 1, rng)[0]))
        ends = np.argwhere(np.triu(GridMetric(dims, wrap).between(np.arange(nodes)[:, None], np.arange(nodes)) == 1))
        width = np.maximum(_weights(mix, len(ends), rng), 1e-9)
        links = Links(u=ends[:, 0], v=ends[:, 1], weight=np.ones(len(ends)), bandwidth=width)
        return Topology(names=names, metric=metric, links=links if rng.random() < 0.5 else None)
    if drawing.hardware == "tree":
        fanouts = (nodes // 2, 2) if nodes % 2 == 0 and nodes > 2 else (nodes,)
        steps = np.sort(_weights(mix, len(fanouts), rng))
        return Topology(names=names, metric=TreeMetric(fanouts, tuple(steps.tolist())))
    if drawing.hardware == "links":
        ends = [(int(rng.integers(k)), k) for k in range(1, nodes)] + [(0, nodes - 1)]
        pairs = np.array(sorted(set(ends)), np.int64)
        weight, width = (np.maximum(_weights(mix, len(pairs), rng), 1e-9) for _ in range(2))
        return Topology.from_links(names, Links(u=pairs[:, 0], v=pairs[:, 1], weight=weight, bandwidth=width))
    table = _weights(mix, nodes * nodes, rng).reshape(nodes, nodes)
    table = table if drawing.hardware == "skew" else np.triu(table, 1) + np.triu(table, 1).T
    if drawing.hardware == "split":
        part = rng.random(nodes) < 0.5
        table[part[:, None] != part[None, :]] = np.inf
    return Topology(names=names, metric=DenseMetric(table))
