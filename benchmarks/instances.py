"""Mapping problems to measure on: generated ones, the same from the same seed, and QAPLIB files where they are."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np

from tiger.formats.files import read_tasks
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.topologies.spec import build

# Best known values, proven optima for most instances of up to 30 tasks.
QAPLIB = {
    "bur26a": 5426670,
    "chr20a": 2192,
    "chr25a": 3796,
    "esc32a": 130,
    "had20": 6922,
    "kra32": 88700,
    "kra30a": 88900,
    "lipa40a": 31538,
    "nug12": 578,
    "nug20": 2570,
    "nug30": 6124,
    "sko42": 15812,
    "sko56": 34458,
    "sko64": 48498,
    "sko72": 66256,
    "sko81": 90998,
    "sko100a": 152002,
    "ste36a": 9526,
    "tai20a": 703482,
    "tai30a": 1818146,
    "tai40a": 3139370,
    "tai60a": 7205962,
    "tai80a": 13499184,
    "tai100a": 21044752,
    "tai20b": 122455319,
    "tai30b": 637117113,
    "tai40b": 637250948,
    "tai60b": 608215054,
    "tai80b": 818415043,
    "tai100b": 1185996137,
    "tai150b": 498896643,
    "tho30": 149936,
    "tho40": 240516,
    "tho150": 8133398,
    "wil50": 48816,
    "wil100": 273038,
}


def generate() -> Iterator[tuple[str, Problem]]:
    """Yield eight one-to-one problems of 9 to 20 tasks that fill their nodes, dense, ring-like and scale-free."""
    for tasks, kind, hardware in (
        (9, "dense", "grid:3x3"),
        (12, "dense", "grid:3x4"),
        (12, "ring", "hexagons"),
        (16, "dense", "grid:4x4"),
        (16, "ring", "torus:4x4"),
        (16, "scale-free", "grid:4x4"),
        (20, "dense", "grid:4x5"),
        (20, "ring", "hexagons"),
    ):
        topology = hexagons(tasks) if hardware == "hexagons" else build(hardware)
        graph = TaskGraph(names=tuple(map(str, range(tasks))), traffic=traffic(kind, tasks), directed=False)
        yield f"{kind} {tasks} on {hardware}", Problem(tasks=graph, topology=topology, rule="one-to-one")


def qaplib(folder: Path, names: Iterable[str] = tuple(QAPLIB)) -> Iterator[tuple[str, Problem, float]]:
    """Yield those of the named QAPLIB instances that are found in a folder, with their best known values."""
    for name in names:
        if (folder / f"{name}.dat").exists():
            found = read_tasks(folder / f"{name}.dat")
            assert found.topology is not None
            yield name, Problem(tasks=found.tasks, topology=found.topology, rule="one-to-one"), QAPLIB[name]


def generate_layered() -> Iterator[tuple[str, Problem]]:
    """Yield five layered task graphs of 30 to 100 tasks on a 4 x 4 mesh, with equal and with unequal processors."""
    for number, (layers, width, unequal) in enumerate(
        ((5, 6, False), (5, 6, True), (10, 6, False), (10, 6, True), (10, 10, True))
    ):
        rng = np.random.default_rng([layers, width, number])
        edges = [
            (int(source), target)
            for target in range(width, layers * width)
            for source in rng.choice(
                np.arange(width) + (target // width - 1) * width, rng.integers(1, 4), replace=False
            )
        ]
        # A third of the tasks also read from two layers above.
        skipping = [t for t in range(2 * width, layers * width) if rng.random() < 1 / 3]
        edges += [(int(rng.integers(width)) + (target // width - 2) * width, target) for target in skipping]
        volumes = np.zeros((layers * width, layers * width))
        volumes[tuple(np.array(edges).T)] = rng.integers(1, 11, len(edges))
        graph = TaskGraph(
            names=tuple(map(str, range(len(volumes)))),
            work=rng.integers(5, 40, len(volumes)).astype(float),
            traffic=volumes,
            directed=True,
        )
        mesh = build("grid:4x4")
        mesh = replace(mesh, cost=1.0 + np.arange(16) % 4 * unequal, metric=GridMetric((4, 4), (False, False), 2.0))
        yield (
            f"{layers} x {width}, {'unequal' if unequal else 'equal'}",
            Problem(tasks=graph, topology=mesh, rule="levels"),
        )


def traffic(kind: str, tasks: int) -> np.ndarray:
    """Return an upper triangular traffic matrix with volumes from 1 to 10."""
    rng = np.random.default_rng([tasks, len(kind)])
    volumes = rng.integers(1, 11, (tasks, tasks)).astype(float)
    if kind == "dense":
        linked = rng.random((tasks, tasks)) < 0.5
    else:
        graph = nx.cycle_graph(tasks) if kind == "ring" else nx.barabasi_albert_graph(tasks, 2, seed=1)
        graph = nx.relabel_nodes(graph, dict(enumerate(rng.permutation(tasks).tolist())))
        graph.add_edges_from(rng.integers(tasks, size=(tasks // 2 if kind == "ring" else 0, 2)).tolist())
        linked = nx.to_numpy_array(graph, nodelist=range(tasks)) > 0
    return np.triu(volumes * linked, 1)


def hexagons(nodes: int) -> Topology:
    """Return a connected piece of the heavy-hex lattice of distance 3, breadth first from a corner, every node used."""
    lattice = build("heavy-hex:3")
    assert lattice.links is not None
    graph = nx.Graph(zip(lattice.links.u.tolist(), lattice.links.v.tolist(), strict=True))
    order = [0, *(v for _, v in nx.bfs_edges(graph, 0))]
    while len(order) < nodes:
        order.append(len(graph))
        graph.add_edge(order[-2], order[-1])
    piece = nx.convert_node_labels_to_integers(graph.subgraph(order[:nodes]), ordering="sorted")
    return Topology.from_links(tuple(map(str, range(nodes))), Links.unit(list(piece.edges)))


def best_found(problem: Problem) -> float:
    """Return the cheapest cost that a long native search finds."""
    from tiger.mapping.mapper import solve

    report = solve(problem, solver="search", effort=64, seed=99)
    assert report.cost is not None
    return report.cost
