"""Cost over time on large sparse task graphs, beside what Scotch, METIS, SharedMap and KaHIP reach and when."""

import os
import time
from collections.abc import Callable, Iterator
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import scotch
from benchmarks.graphs import (
    attach_preferentially,
    build_full_problem,
    draw_recursively,
    geometric,
    roads,
    stencil,
    triangulate,
)
from benchmarks.peers import is_installed
from tiger.mapping.mapper import solve
from tiger.model.arrays import BoolArray, IntArray
from tiger.model.metrics import TreeMetric
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of
from tiger.solvers.multilevel.regions import halve

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "anytime.svg"
# The problems are drawn from the first, their curves too; what is compared is the mean over all.
SEEDS = range(3)
TORUS, TREE, OTHER_TREE = "torus:32x32x32", "tree:8x8x4@1,10,100", "tree:4x8x8@1,10,100"
# Time limits of the curves, in seconds.
LIMITS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
# The slack of peers that have any: KaHIP's default.
SLACK = 0.03
HEAD = ("problem", "peer", "its cost", "`auto` in its time", "ratio")
# A mapping and the seconds that it took.
Found = tuple[IntArray, float]


class Peer(NamedTuple):
    """Name another tool, the package that it needs, if any, and how to call it with a seed.

    A call returns None where the tool does not apply. TIGER has `patience` times its seconds and, with `slack`, as many
    slots a node as the peer fills at most.
    """

    name: str
    package: str | None
    find: Callable[[Problem, int], Found | None]
    patience: float = 1.0
    slack: bool = False


class Point(NamedTuple):
    """Hold means over seeds: what a peer reaches, what TIGER does in the same time, and when that answers."""

    case: str
    peer: str
    seconds: float
    cost: float
    own: float
    own_seconds: float


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield what every peer costs beside TIGER in the same time, means over seeds, and draw some costs over time."""
    yield HEAD
    points, curves = [], {}
    drawn = list(cases())
    for case, problem in (*drawn, *networks()):
        say(case)
        if len(curves) < len(drawn):
            curves[case] = [(limit, _map(problem, limit, SEEDS[0])[0]) for limit in LIMITS]
        for peer in PEERS:
            point = _compare(case, problem, peer, say)
            if point is not None:
                points.append(point)
                cost, own = (
                    f"{point.cost:,.0f} ({point.seconds:.2f} s)",
                    f"{point.own:,.0f} ({point.own_seconds:.2f} s)",
                )
                yield case, point.peer, cost, own, f"{point.own / point.cost:.3f}"
    for peer in PEERS:
        ratios = [point.own / point.cost for point in points if point.peer == peer.name]
        if ratios:
            yield "**geometric mean**", peer.name, "1", "", f"{exp(sum(map(log, ratios)) / len(ratios)):.3f}"
    _draw(curves, points)


def cases() -> Iterator[tuple[str, Problem]]:
    """Yield three problems one to one on a torus and three of tasks that share the leaves of a tree."""
    for name, traffic, hardware in (
        ("32,768 points near each other", geometric(SEEDS[0], 32768), TORUS),
        ("32,768 points triangulated", triangulate(SEEDS[0], 32768), TORUS),
        ("4,096 points near each other", geometric(SEEDS[0], 4096), "torus:16x16x16"),
        ("32,768 points near each other", geometric(SEEDS[0], 32768), TREE),
        ("65,536 points triangulated", triangulate(SEEDS[0], 65536), TREE),
        ("32 x 32 x 32 stencil", stencil(SEEDS[0], 32, 32, 32), TREE),
    ):
        yield f"{name} on {hardware.partition('@')[0]}", build_full_problem(traffic, hardware)


def networks() -> Iterator[tuple[str, Problem]]:
    """Yield roads of three sizes and two kinds of scale-free graphs on the leaves of two trees."""
    for hardware in (TREE, OTHER_TREE):
        for name, traffic in (
            ("4,096 places along roads", roads(SEEDS[0], 4096)),
            ("16,384 places along roads", roads(SEEDS[0], 16384)),
            ("65,536 places along roads", roads(SEEDS[0], 65536)),
            ("4,096 vertices attached by degree", attach_preferentially(SEEDS[0], 4096)),
            ("16,384 vertices of R-MAT", draw_recursively(SEEDS[0], 16384)),
        ):
            yield f"{name} on {hardware.partition('@')[0]}", build_full_problem(traffic, hardware)


def _map(problem: Problem, limit_s: float, seed: int) -> tuple[float, float]:
    """Return the cost that TIGER reaches with a time limit, and the seconds until it answers."""
    report = solve(problem, seed=seed, time_limit_s=limit_s)
    return report.cost or np.inf, report.seconds


def _compare(case: str, problem: Problem, peer: Peer, say: Callable[[str], None]) -> Point | None:
    """Return what a peer reaches, and TIGER in its time with the slots that the peer fills; None without the peer."""
    if peer.package is not None and not is_installed(peer.package):
        say(f"without {peer.name}: {peer.package} is not installed")
        return None
    runs = []
    for seed in SEEDS:
        found = peer.find(problem, seed)
        if found is None:
            return None
        places, seconds = found
        cost, most, own = cost_of(problem, places).total, int(np.bincount(places).max()), problem
        if peer.slack and most > problem.topology.slots.max():
            topology = problem.topology.with_slots(np.full(problem.topology.size, most))
            own = Problem(tasks=problem.tasks, topology=topology, rule="capacity")
        runs.append((seconds, cost, *_map(own, peer.patience * seconds, seed)))
    return Point(case, peer.name, *(sum(column) / len(runs) for column in zip(*runs, strict=True)))


def _scotch(problem: Problem, _seed: int) -> Found | None:
    """Return the mapping of Scotch, which may exceed the slots by one per cent or one task; it takes no seed."""
    with TemporaryDirectory() as folder:
        return scotch.map_graph(problem, Path(folder))


def map_by_metis(problem: Problem, seed: int) -> Found:
    """Return the mapping by METIS's bisections of the tasks, each to the exact size of half of the nodes."""
    graph, begun = (problem.tasks.traffic + problem.inflow).tocsr(), time.perf_counter()
    rng, places, todo = np.random.default_rng(seed), np.empty(graph.shape[0], np.int64), []
    todo.append((np.arange(graph.shape[0]), np.arange(problem.topology.size)))
    while todo:
        tasks, nodes = todo.pop()
        if len(nodes) == 1:
            places[tasks] = nodes[0]
            continue
        halves = halve(problem.metric, [nodes], problem.topology.slots, rng)
        first, second = halves.nodes[: halves.cut[0]], halves.nodes[halves.cut[0] :]
        side = _bisect(graph[tasks][:, tasks], round(len(tasks) * len(first) / len(nodes)), seed)
        todo += [(tasks[side], first), (tasks[~side], second)]
    return places, time.perf_counter() - begun


def _bisect(graph: sp.csr_array, share: int, seed: int) -> BoolArray:
    """Return which tasks are in the first half, `share` of them: METIS, then the cheapest moves to the exact size."""
    import pymetis

    size = graph.shape[0]
    if not 0 < share < size or size < 3:
        return np.arange(size) < share
    side = np.array(
        pymetis.part_graph(
            2,
            xadj=graph.indptr,
            adjncy=graph.indices,
            eweights=graph.data.astype(int),
            recursive=True,
            tpwgts=[share / size, 1 - share / size],
            options=pymetis.Options(ufactor=1, seed=seed, ncuts=2),
        )[1]
    )
    first = side == 0
    while excess := int(first.sum()) - share:
        gain = np.where(first == (excess > 0), graph @ np.where(first == (excess > 0), -1.0, 1.0), -np.inf)
        first[np.argsort(-gain)[: max(1, abs(excess) // 4)]] = excess < 0
    return first


def _map_by(problem: Problem, seed: int, imbalance: float, **settings: str) -> Found | None:
    """Return a mapping onto a tree by chszlablib on one thread, None on other hardware."""
    metric = problem.metric
    if not isinstance(metric, TreeMetric):
        return None
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from chszlablib import Decomposition, Graph

    graph = Graph.from_scipy_sparse((problem.tasks.traffic + problem.inflow).tocsr().astype(int))
    sizes, distances = list(metric.fanouts[::-1]), [int(away) for away in metric.distances]
    begun = time.perf_counter()
    options = {"mode": None, **settings}
    found = Decomposition.process_map(graph, sizes, distances, imbalance=imbalance, threads=1, seed=seed, **options)
    return np.asarray(found.assignment, np.int64), time.perf_counter() - begun


PEERS = (
    Peer("Scotch `-cq`", None, _scotch),
    Peer("METIS, recursive; TIGER in 1.5 times its time", "pymetis", map_by_metis, 1.5),
    Peer(
        "KaHIP `eco`, 3 % slack for both",
        "chszlablib",
        lambda problem, seed: _map_by(
            problem,
            seed,
            SLACK,
            strategy="naive",
            parallel_algorithm="mtkahypar_default",
            serial_algorithm="kaffpa_eco",
        ),
        slack=True,
    ),
    Peer("SharedMap `eco`", "chszlablib", lambda problem, seed: _map_by(problem, seed, 0.0, mode="eco")),
    Peer("SharedMap `strong`", "chszlablib", lambda problem, seed: _map_by(problem, seed, 0.0, mode="strong")),
    Peer(
        "SharedMap `strong`, 3 % slack for both",
        "chszlablib",
        lambda problem, seed: _map_by(problem, seed, SLACK, mode="strong"),
        slack=True,
    ),
)


def _draw(curves: dict[str, list[tuple[float, float]]], points: list[Point]) -> None:
    """Draw the costs over time, one panel a problem, with a point for every peer."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "tiger"
    figure, grid = plt.subplots(2, 3, figsize=(11, 6.5), layout="constrained")
    for axes, (case, curve) in zip(grid.flat, curves.items(), strict=True):
        axes.loglog(*zip(*curve, strict=True), "o-", label="TIGER")
        for number, peer in enumerate(PEERS):
            own = [point for point in points if (point.case, point.peer) == (case, peer.name)]
            axes.plot(
                [x.seconds for x in own], [x.cost for x in own], "sD^v*P"[number], label=peer.name.replace("`", "")
            )
        # Two lines, as one may be wider than its plot.
        axes.set_title(case.replace(" on ", "\non "), fontsize=9)
        axes.set(xlabel="seconds", ylabel="cost")
        axes.grid(visible=True, alpha=0.3)
    figure.legend(*grid.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.savefig(PICTURE, metadata={"Date": None})
