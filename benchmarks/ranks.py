"""Rank orders of 1,024 ranks on three networks, beside what launchers, Scotch and SharedMap make of them.

On two of them also ranks of four cores each, four to a host of two sockets.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import networkx as nx
import numpy as np

from benchmarks import scotch
from benchmarks.peers import is_installed
from tiger.formats.graphs import topology_of
from tiger.formats.patterns.spec import build as build_pattern
from tiger.mapping.hardware import build_hardware
from tiger.mapping.mapper import solve
from tiger.mapping.options import HardwareArguments
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of
from tiger.objectives.shortest_paths import link_loads
from tiger.run.report import Report
from tiger.topologies.spec import build

SEED = 0
RANKS = 1024
# Bytes of `parallel:`, with 88 million units in the largest volume, keep SharedMap busy for minutes.
LARGEST = 4096
PATTERNS = ("halo:8x8x16", "fft:32x32", "cg:32x32", "parallel:tp=8,pp=8,dp=16")
# The inside of hosts for ranks of several cores: two sockets of eight cores.
INSIDE, CORES = Path(__file__).parents[1] / "examples" / "two_sockets.xml", 4
HYBRID = f"ranks of {CORES} cores"
HEAD = (
    "traffic of 1,024 ranks",
    "network",
    "cyclic",
    "Scotch `-cq`",
    "SharedMap `strong`",
    "TIGER",
    "TIGER, `max-link-load`",
)
# A mapping and the seconds that it took.
Found = tuple[IntArray, float]


class Network(NamedTuple):
    """Name hardware with as many slots as ranks, and its hosts as a hierarchy, innermost first, where they form one."""

    name: str
    topology: Topology
    hierarchy: tuple[int, ...]
    distances: tuple[int, ...]


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield hop-bytes and largest link load over those of the block order, as a pair a cell, and seconds."""
    yield HEAD
    for kind, some in (("", list(networks())), (f", {HYBRID}", list(hybrid_networks()))):
        ratios: dict[int, list[tuple[float, float]]] = {}
        for network in some:
            for pattern in PATTERNS:
                say(f"{pattern} on {network.name}")
                cells, pairs = _measure(pattern, network)
                yield f"`{pattern}`", network.name, *cells
                for column, pair in pairs.items():
                    ratios.setdefault(column, []).append(pair)
        yield f"**geometric mean{kind}**", "", *_list_means(ratios)


def _list_means(ratios: dict[int, list[tuple[float, float]]]) -> list[str]:
    """Return the geometric means of pairs by column, nothing for a column without any."""
    return [
        " / ".join(f"{exp(sum(map(log, values)) / len(values)):.2f}" for values in zip(*ratios[column], strict=True))
        if column in ratios
        else ""
        for column in range(len(HEAD) - 2)
    ]


def networks() -> Iterator[Network]:
    """Yield a dragonfly of 16 groups, a fat tree whose upper links are half as wide, and a torus with nodes away."""
    dragonfly = build("dragonfly:8,2,16")
    yield Network("dragonfly, 16 groups", _seat(dragonfly, dragonfly.hosts), (2, 8, 16), (2, 3, 5))
    tree = tapered_tree()
    yield Network("fat tree, taper 1:2", _seat(tree, tree.hosts), (16, 4, 4), (2, 4, 6))
    torus = build("torus:8x8x9")
    left = np.sort(np.random.default_rng(SEED).permutation(torus.size)[:512])
    yield Network("torus 8x8x9, 11 % away", _seat(torus, left), (), ())


def hybrid_networks() -> Iterator[Network]:
    """Yield the dragonfly and the fat tree with what four ranks of four cores each get of every host."""
    for name, hosts, hierarchy, distances in (
        ("dragonfly, 16 groups", build("dragonfly:8,2,16"), (2, 8, 16), (20, 30, 50)),
        ("fat tree, taper 1:2", tapered_tree(), (16, 4, 4), (20, 40, 60)),
    ):
        arguments = HardwareArguments(topology=hosts, node_topology=INSIDE, cores_per_rank=CORES)
        yield Network(f"{name}, {HYBRID}", build_hardware(arguments), (2, 2, *hierarchy), (2, 4, *distances))


def tapered_tree() -> Topology:
    """Return 256 hosts in 4 pods of 4 edge switches, with half as much bandwidth above every tier as below it."""
    graph = nx.Graph()
    for host in range(256):
        graph.add_edge(f"host{host}", f"edge{host // 16}", bandwidth=1)
    for edge in range(16):
        for k in range(4):
            graph.add_edge(f"edge{edge}", f"agg{edge // 4 * 4 + k}", bandwidth=2)
    for switch in range(16):
        for k in range(4):
            graph.add_edge(f"agg{switch}", f"core{switch % 4 * 4 + k}", bandwidth=1)
    for name in graph:
        graph.nodes[name]["slots"] = int(name.startswith("host"))
    return topology_of(graph)


def _seat(topology: Topology, hosts: IntArray) -> Topology:
    """Return the topology with the slots that the ranks need on some nodes, none elsewhere."""
    slots = np.zeros(topology.size, np.int64)
    slots[hosts] = RANKS // len(hosts)
    return topology.with_slots(slots)


def _measure(pattern: str, network: Network) -> tuple[list[str], dict[int, tuple[float, float]]]:
    """Return the cells of a row, and the ratios to the block order by column."""
    problem = Problem(tasks=_traffic(pattern), topology=network.topology, rule="capacity")
    hosts = network.topology.hosts
    rank, slots = np.arange(RANKS), RANKS // len(hosts)
    block, machine = _weigh(problem, hosts[rank // slots]), network.topology.machines[hosts]
    # One rank for each host in turn, to the first of its units that is free.
    turn = np.arange(len(hosts)) - np.searchsorted(machine, machine)
    cyclic = np.tile(hosts[np.lexsort((machine, turn))], slots)
    with TemporaryDirectory() as folder:
        peers = _map_by_scotch(problem, Path(folder)), _map_by_sharedmap(problem, network)
    own = [_places(problem, solve(problem, seed=SEED, objective=name)) for name in ("cost", "max-link-load")]
    cells, pairs = list[str](), dict[int, tuple[float, float]]()
    for column, found in enumerate(((cyclic, 0.0), *peers, *own)):
        if found is None:
            cells.append("not measured")
            continue
        places, seconds = found
        weighed, most = _weigh(problem, places), int(np.bincount(places).max())
        pairs[column] = (weighed[0] / block[0], weighed[1] / block[1])
        said = [f"{seconds:.1f} s"] * (seconds > 0) + [f"{most} of {slots}"] * (most > slots)
        cells.append(" / ".join(f"{ratio:.2f}" for ratio in pairs[column]) + (f" ({', '.join(said)})" if said else ""))
    return cells, pairs


def _traffic(pattern: str) -> TaskGraph:
    """Return the task graph of a pattern, its volumes as the smallest whole numbers, the largest at most 4,096."""
    tasks = build_pattern(pattern)
    unit = int(np.gcd.reduce(tasks.traffic.data.astype(np.int64)))
    traffic = tasks.traffic / max(unit, tasks.traffic.data.max() / LARGEST)
    traffic.data = np.rint(traffic.data)
    return replace(tasks, traffic=traffic)


def _weigh(problem: Problem, places: IntArray) -> tuple[float, float]:
    """Return hop-bytes and the largest load of a link."""
    loads = link_loads(problem, places)
    assert loads is not None
    return cost_of(problem, places).communication, loads.worst


def _places(problem: Problem, report: Report) -> Found:
    """Return the node of every rank."""
    index = {name: k for k, name in enumerate(problem.topology.names)}
    return np.array([index[report.mapping[name]] for name in problem.tasks.names]), report.seconds


def _map_by_scotch(problem: Problem, folder: Path) -> Found | None:
    """Return what Scotch makes of the network itself, whose switches take no ranks; None where it is not installed."""
    target = scotch.write_network(problem.topology, folder)
    return None if target is None else scotch.map_graph(problem, folder, target)


def _map_by_sharedmap(problem: Problem, network: Network) -> Found | None:
    """Return what SharedMap makes of the hosts as a hierarchy, with no imbalance; None without it or a hierarchy."""
    if not is_installed("chszlablib") or not network.hierarchy:
        return None
    from chszlablib import Decomposition, Graph

    both = (problem.tasks.traffic + problem.tasks.traffic.T).astype(np.int64)
    graph, begun = Graph.from_scipy_sparse(both), time.perf_counter()
    found = Decomposition.process_map(
        graph, network.hierarchy, network.distances, mode="strong", imbalance=0.0, seed=SEED
    )
    return problem.topology.hosts[np.asarray(found.assignment)], time.perf_counter() - begun
