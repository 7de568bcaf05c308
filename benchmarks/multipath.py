"""Largest link load on one path, over equal paths and over weighted ones, beside the linear program of all paths."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from tiger.formats.files import read_topology
from tiger.model.arrays import FloatArray
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.objectives.multipath import split_equally, split_optimally
from tiger.objectives.shortest_paths import link_loads

MACHINE = Path(__file__).resolve().parents[1] / "examples" / "nvlinks8.xml"
SEEDS = (0, 1, 2)
# Shape of the volumes: the largest of a matrix is some tens of times the mean.
SKEW = 1.2
# Timed calls, after one that loads what scipy loads first.
REPEATS = 5


def nvlink_graph() -> Topology:
    """Return 8 GPUs of a hybrid cube mesh: six NVLinks for each GPU, and PCIe."""
    return read_topology(str(MACHINE))


def four_rails() -> Topology:
    """Return 2 nodes of 8 GPUs on a switch of 300 GB/s each; two GPUs share each of 4 NICs, of 25 GB/s to its rail."""
    links = []
    for node in range(2):
        for gpu in range(8):
            links += [(8 * node + gpu, 16 + node, 300.0), (8 * node + gpu, 18 + 4 * node + gpu // 2, 50.0)]
        links += [(18 + 4 * node + rail, 26 + rail, 25.0) for rail in range(4)]
    return _join(links, 16, 30)


def draw_skewed(topology: Topology, seed: int) -> Problem:
    """Return skewed traffic between all hosts, task k meant for host k."""
    hosts = topology.hosts.size
    volume = np.random.default_rng(seed).pareto(SKEW, (hosts, hosts)) + 0.1
    np.fill_diagonal(volume, 0)
    tasks = TaskGraph(names=tuple(f"t{k}" for k in range(hosts)), traffic=sp.csr_array(volume))
    return Problem(tasks=tasks, topology=topology, rule="one-to-one")


def least_load(topology: Topology, volume: FloatArray) -> float:
    """Return the least largest load over bandwidth, by the linear program of flows from every source over all links.

    `volume[m, m]` goes between nodes. It knows nothing of paths, unlike what it is compared with.
    """
    links, size = topology.links, topology.size + len(topology.switches)
    if links is None:
        raise ValueError("expected hardware with links, got distances alone")
    count, sources = len(links.u), np.flatnonzero(volume.any(axis=1))
    node, arc = np.concatenate([links.u, links.v]), np.arange(count)
    signs = np.repeat([1.0, -1.0], count)
    one_way = sp.csr_array((signs, (node, np.tile(arc, 2))), shape=(size, count))
    balance = sp.block_diag([sp.hstack([one_way, -one_way])] * len(sources))
    equal = sp.hstack([balance, sp.csr_array((size * len(sources), 1))])
    both = sp.hstack([sp.eye_array(count), sp.eye_array(count)])
    over = sp.hstack([both] * len(sources) + [sp.csr_array(-links.bandwidth[:, None])])
    supply = np.zeros((len(sources), size))
    supply[:, : topology.size] = -volume[sources]
    supply[np.arange(len(sources)), sources] += volume[sources].sum(axis=1)
    worst = np.append(np.zeros(2 * count * len(sources)), 1.0)
    return float(linprog(worst, over, np.zeros(count), equal, supply.ravel(), method="highs").fun)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield loads as ratios to the linear program's, and the milliseconds of weighted paths."""
    yield "hardware", "traffic", "single path", "equal paths", "weighted paths", "bound", "ms"
    for name, topology in (("8 GPUs, NVLink", nvlink_graph()), ("2 x 8 GPUs, 4 rails", four_rails())):
        for seed in SEEDS:
            say(f"{name}, {seed}")
            yield name, f"all to all, seed {seed}", *_measure(draw_skewed(topology, seed))


def _measure(problem: Problem) -> tuple[str, ...]:
    """Return the ratios and the median milliseconds of one matrix."""
    topology, places = problem.topology, problem.topology.hosts
    volume = np.zeros((topology.size, topology.size))
    volume[np.ix_(places, places)] = problem.tasks.traffic.toarray()
    least = least_load(topology, volume)
    single, equal, best = link_loads(problem, places), split_equally(problem, places), split_optimally(problem, places)
    if single is None or equal is None or best is None:
        raise SystemExit("expected hardware with links, got distances alone")
    spent = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        split_optimally(problem, places)
        spent.append(1e3 * (time.perf_counter() - begun))
    ratios = [load / least for load in (single.worst, equal.worst, best.loads.worst, best.bound)]
    return (*(f"{ratio:.3f}" for ratio in ratios), f"{np.median(spent):.0f}")


def _join(links: list[tuple[int, int, float]], hosts: int, size: int) -> Topology:
    """Return hardware with links (node, node, bandwidth) of length 1, of which the first nodes are hosts."""
    u, v, bandwidth = zip(*links, strict=True)
    joined = Links(u=np.array(u), v=np.array(v), weight=np.ones(len(links)), bandwidth=np.array(bandwidth))
    slots = (np.arange(size) < hosts).astype(np.int64)
    return Topology.from_links(tuple(f"n{k}" for k in range(size)), joined, slots=slots)
