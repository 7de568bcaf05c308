"""Scotch's static mapping, called the way its users do: `scotch_gmap -cq` on files."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import networkx as nx
import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.metrics import GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.topology import Topology

THREADS = "1"


def map_graph(problem: Problem, folder: Path, target: Path | None = None) -> tuple[IntArray, float] | None:
    """Return places[n] and wall seconds, or None where Scotch is not installed; loads may exceed the slots.

    Without a file of the target in Scotch's format the hardware is a torus or a tree.
    """
    program = shutil.which("scotch_gmap") or shutil.which("gmap")
    if program is None:
        return None
    source, out = folder / "tasks.grf", folder / "places.map"
    source.write_text(_graph(problem), encoding="ascii")
    if target is None:
        target = folder / "nodes.tgt"
        target.write_text(_target(problem), encoding="ascii")
    begun = time.perf_counter()
    command = [program, "-cq", "-b0.01", str(source), str(target), str(out)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | {"SCOTCH_PTHREAD_NUMBER": THREADS})
    seconds = time.perf_counter() - begun
    pairs = np.array(out.read_text(encoding="ascii").split()[1:], dtype=np.int64).reshape(-1, 2)
    places = np.empty(len(pairs), np.int64)
    places[pairs[:, 0]] = pairs[:, 1]
    return places, seconds


def write_network(topology: Topology, folder: Path) -> Path | None:
    """Write a network as Scotch's target, whose switches and nodes without slots take no tasks; None without Scotch."""
    maker = shutil.which("amk_grf") or shutil.which("scotch_amk_grf")
    if maker is None:
        return None
    graph, links = nx.Graph(), topology.links
    graph.add_nodes_from(range(topology.size))
    graph.add_edges_from(_neighbours(topology) if links is None else zip(links.u, links.v, strict=True))
    lines = [f"{graph.degree(k)} {' '.join(map(str, graph[k]))}" for k in range(len(graph))]
    head = f"0\n{len(graph)} {2 * graph.number_of_edges()}\n0 000\n"
    (folder / "net.grf").write_text(head + "\n".join(lines) + "\n", encoding="ascii")
    hosts = topology.hosts.tolist()
    (folder / "hosts").write_text("\n".join(map(str, [len(hosts), *hosts])) + "\n", encoding="ascii")
    command = [maker, "net.grf", "net.tgt", "-lhosts"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, env=os.environ)
    return folder / "net.tgt"


def _neighbours(topology: Topology) -> IntArray:
    """Return the pairs of nodes that are 1 apart."""
    nodes = np.arange(topology.size)
    return np.argwhere(topology.metric.between(nodes[:, None], nodes[None, :]) == 1)


def _graph(problem: Problem) -> str:
    """Return the tasks in Scotch's graph format with edge loads, every edge listed at both ends."""
    both = (problem.tasks.traffic + problem.inflow).tocsr()
    lines = ["0", f"{both.shape[0]} {both.nnz}", "0 010"]
    for start, end in zip(both.indptr[:-1].tolist(), both.indptr[1:].tolist(), strict=True):
        pairs = zip(both.data[start:end].astype(int).tolist(), both.indices[start:end].tolist(), strict=True)
        lines.append(" ".join([str(end - start), *(f"{load} {end}" for load, end in pairs)]))
    return "\n".join(lines) + "\n"


def _target(problem: Problem) -> str:
    """Return a torus or a tree in Scotch's format."""
    metric = problem.metric
    if isinstance(metric, GridMetric):
        # Scotch counts along the first extent fastest, TIGER along the last.
        return f"torus{len(metric.dims)}D\n{' '.join(map(str, reversed(metric.dims)))}\n"
    assert isinstance(metric, TreeMetric)
    levels = zip(metric.fanouts, metric.distances[::-1], strict=True)
    return f"tleaf\n{len(metric.fanouts)} {' '.join(f'{fan} {distance:g}' for fan, distance in levels)}\n"
