"""The cost of multicasts beside Mt-KaHyPar's mapping by Steiner trees, on one thread and at equal imbalance."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay

from benchmarks.peers import is_installed
from tiger.mapping.mapper import solve
from tiger.model.arrays import IntArray
from tiger.model.constraints import Constraints, build_problem
from tiger.model.hyperedges import Hyperedges
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.run.report import Report
from tiger.solvers.warm import warm
from tiger.topologies.spec import build

if TYPE_CHECKING:
    import mtkahypar

SEED, IMBALANCE = 1, 0.03
# Most seeds that the peer gets in the time of effort 1.
MOST_SEEDS = 8
MISSING = "not measured"
# Its presets that spend more time, each asked for one seed.
PRESETS = ("QUALITY", "HIGHEST_QUALITY")


class Ask(NamedTuple):
    """Hold what Mt-KaHyPar is asked: tasks, sets of tasks, nodes, links (node, node, length), seeds, and a preset."""

    tasks: int
    sets: list[list[int]]
    nodes: int
    links: list[tuple[int, int, int]]
    seeds: range
    preset: str = "DEFAULT"


class Peer(NamedTuple):
    """Hold what Mt-KaHyPar finds for each seed, and in how many seconds, of the processor and of the clock."""

    places: list[IntArray]
    seconds: list[float]
    wall_s: list[float]


def list_rows(tasks: int) -> list[list[int]]:
    """Return the rows of a sparse matrix: each point of a triangulation with its neighbours."""
    points = np.random.default_rng(SEED).random((tasks, 2))
    starts, others = Delaunay(points).vertex_neighbor_vertices
    return [sorted({v, *others[starts[v] : starts[v + 1]].tolist()}) for v in range(tasks)]


def draw_nets(tasks: int) -> list[list[int]]:
    """Return one and a half nets a task, of 2 to 6 tasks at random."""
    rng = np.random.default_rng(SEED)
    return [rng.choice(tasks, int(rng.integers(2, 7)), replace=False).tolist() for _ in range(tasks * 3 // 2)]


def draw_circuit(tasks: int) -> list[list[int]]:
    """Return a net of each cell to others on a shuffled line, near ones more often than far ones, as wires are."""
    rng, nets = np.random.default_rng(SEED), list[list[int]]()
    shuffled = rng.permutation(tasks)
    for cell in range(tasks):
        fan = min(1 + int(rng.geometric(0.45)), 12)
        away = np.minimum((2.0 * (1 - rng.random(fan)) ** -1.2).astype(np.int64), tasks // 2)
        net = {cell, *((cell + rng.choice([-1, 1], fan) * away) % tasks).tolist()}
        if len(net) > 1:
            nets.append(shuffled[sorted(net)].tolist())
    return nets


CASES: tuple[tuple[str, Callable[[int], list[list[int]]], int, str], ...] = (
    ("matrix rows", list_rows, 270, "torus:3x3"),
    ("matrix rows", list_rows, 1024, "torus:3x3"),
    ("random nets", draw_nets, 512, "torus:3x3"),
    ("circuit", draw_circuit, 1024, "torus:3x3"),
    ("random nets", draw_nets, 1024, "torus:4x4"),
    ("circuit", draw_circuit, 4096, "torus:4x4"),
    ("matrix rows", list_rows, 2048, "torus:4x4x2"),
    ("matrix rows", list_rows, 2048, "tree:4x4@1,10"),
    ("circuit", draw_circuit, 2048, "tree:4x4@1,10"),
)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the costs of both, in the peer's time and in that of effort 1, all recomputed in the same way."""
    yield (
        "sets",
        "tasks",
        "hardware",
        "block order",
        "Mt-KaHyPar",
        "in its time",
        "Mt-KaHyPar, seeds",
        *(f"`{preset}`" for preset in PRESETS),
        "effort 1",
        "ratio",
    )
    warm(say)
    for name, make, tasks, hardware in CASES:
        say(f"{name}, {tasks} on {hardware}")
        sets = make(tasks)
        yield name, f"{tasks:,}", hardware.partition("@")[0], *_measure(build_multicast(sets, tasks, hardware), sets)


def _measure(problem: Problem, sets: list[list[int]]) -> tuple[str, ...]:
    """Return the cells of a row."""
    used = time.process_time()
    effort = solve(problem, seed=SEED, effort=1)
    seconds = time.process_time() - used
    block, cost = _block(problem), recompute(problem, _places(effort))
    if not is_installed("mtkahypar"):
        return f"{block:,.0f}", *([MISSING] * (3 + len(PRESETS))), f"{cost:,.0f} ({seconds:.1f} s)", MISSING
    ask = Ask(problem.tasks.size, sets, problem.topology.size, _links(problem), range(SEED, SEED + 1))
    # In a process of its own, as it takes the threads of its process.
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        first = pool.submit(ask_peer, ask).result()
        more = min(max(int(seconds / first.seconds[0]), 1), MOST_SEEDS)
        others = pool.submit(ask_peer, ask._replace(seeds=range(SEED + 1, SEED + more))).result()
        thorough = [pool.submit(ask_peer, ask._replace(preset=preset)).result() for preset in PRESETS]
    costs = [recompute(problem, places) for places in first.places + others.places]
    finest = [recompute(problem, peer.places[0]) for peer in thorough]
    # By the clock, as limits are; where effort 1 takes less time, that is the answer.
    late = seconds <= first.seconds[0]
    soon = effort if late else solve(problem, seed=SEED, time_limit_s=first.wall_s[0])
    return (
        f"{block:,.0f}",
        f"{costs[0]:,.0f} ({first.seconds[0]:.2f} s)",
        f"{recompute(problem, _places(soon)):,.0f}",
        f"{min(costs):,.0f} (of {more})",
        *(f"{value:,.0f} ({peer.seconds[0]:.2f} s)" for value, peer in zip(finest, thorough, strict=True)),
        f"{cost:,.0f} ({seconds:.1f} s)",
        f"{recompute(problem, _places(soon)) / costs[0]:.3f} / {cost / min(costs):.3f} / {cost / min(finest):.3f}",
    )


def ask_peer(ask: Ask) -> Peer:
    """Return the mappings of a preset of Mt-KaHyPar, one a seed, and the seconds of each."""
    import mtkahypar

    session, found = _open_session(), Peer([], [], [])
    for seed in ask.seeds:
        context = session.context_from_preset(getattr(mtkahypar.PresetType, ask.preset))
        context.set_mapping_parameters(ask.nodes, IMBALANCE)
        context.logging = False
        mtkahypar.set_seed(seed)
        graph = session.create_hypergraph(context, ask.tasks, len(ask.sets), ask.sets)
        ends, lengths = [link[:2] for link in ask.links], [link[2] for link in ask.links]
        target = session.create_target_graph(context, ask.nodes, len(ends), ends, lengths)
        begun, used = time.perf_counter(), time.process_time()
        mapped = graph.map_onto_graph(target, context)
        found.seconds.append(time.process_time() - used)
        found.wall_s.append(time.perf_counter() - begun)
        found.places.append(np.array([mapped.block_id(task) for task in range(ask.tasks)]))
    return found


@cache
def _open_session() -> "mtkahypar.Initializer":
    """Return Mt-KaHyPar on one thread, once in a process."""
    import mtkahypar

    return mtkahypar.initialize(1)


def recompute(problem: Problem, places: IntArray) -> float:
    """Return the cost by scipy's spanning trees, set by set; raise ValueError for a mapping that exceeds the slots."""
    if (np.bincount(places, minlength=problem.topology.size) > problem.topology.slots).any():
        raise ValueError("expected a mapping that keeps to the slots, got one that exceeds them")
    hyperedges, total = problem.tasks.hyperedges, 0.0
    if hyperedges is None:
        raise ValueError("expected hyperedges, got none")
    for pins, volume in zip(np.split(hyperedges.pins, hyperedges.starts[1:-1]), hyperedges.volumes, strict=True):
        nodes = np.unique(places[pins])
        away = problem.metric.between(nodes[:, None], nodes[None, :])
        total += volume * float(minimum_spanning_tree(away).sum())
    return total


def build_multicast(sets: list[list[int]], tasks: int, hardware: str) -> Problem:
    """Return sets of volume 1 on nodes with 3 % more slots than there are tasks."""
    starts, pins = np.cumsum([0, *map(len, sets)]), np.concatenate(sets)
    hyperedges = Hyperedges(starts=starts, pins=pins, volumes=np.ones(len(sets)))
    graph = TaskGraph.of_hyperedges(tuple(map(str, range(tasks))), hyperedges)
    return build_problem(graph, build(hardware), Constraints(rule="capacity", imbalance=IMBALANCE))


def _links(problem: Problem) -> list[tuple[int, int, int]]:
    """Return the links of a grid, and for other hardware one between every two nodes, as long as they are apart."""
    wired = problem.topology.with_links()
    if isinstance(problem.metric, GridMetric) and wired is not None and wired.links is not None:
        return [(u, v, 1) for u, v in zip(wired.links.u.tolist(), wired.links.v.tolist(), strict=True)]
    nodes = np.arange(problem.topology.size)
    away = problem.metric.between(nodes[:, None], nodes[None, :])
    return [(u, v, int(away[u, v])) for u in nodes.tolist() for v in range(u + 1, len(nodes))]


def _block(problem: Problem) -> float:
    """Return the cost of the block order."""
    return recompute(problem, np.repeat(np.arange(problem.topology.size), problem.topology.slots)[: problem.tasks.size])


def _places(report: Report) -> IntArray:
    """Return the node of every task."""
    if report.problem is None:
        raise ValueError("expected a report with its problem, got one without")
    index = {name: node for node, name in enumerate(report.problem.topology.names)}
    return np.array([index[report.mapping[name]] for name in report.problem.tasks.names])
