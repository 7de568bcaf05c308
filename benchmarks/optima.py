"""Circuits whose fewest SWAPs are known by construction: how often routing finds them, and proves it.

After QUBIKOS (arXiv:2502.08839). A circuit is a series of sections. The gates of a section fit the device in no layout,
so that each needs a SWAP, or a BRIDGE; its last gate comes after all others of it and before all of the next section,
so that no SWAP serves two. One is enough, as the sections are written down along a routing with one SWAP before each
last gate. Gates on couplings of the moment are strewn among them.
"""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import numpy as np
from qiskit import QuantumCircuit
from qiskit.transpiler import CouplingMap, PassManager
from qiskit.transpiler.passes import SabreLayout

import tiger
from benchmarks.record import DEVICES, LIGHTSABRE
from tests.circuits.equivalence import replay
from tiger.circuits.warm import warm

# Circuits of each kind, their SWAPs, and how many CX they have at least for each qubit of the device.
SEEDS, SWAPS, DENSITY = range(4), (5, 10, 20), 10
HEAD = (
    *("device", "SWAPs needed", "circuits", "gates on two qubits", "LightSABRE's SWAPs", "its seconds"),
    *("optima found", "proved", "seconds"),
)
Pair = tuple[int, int]


class Found(NamedTuple):
    """Hold a circuit's CX, SWAPs of LightSABRE, whether level 3 has as few as are needed and proves it, and seconds.

    The seconds are those of a processor.
    """

    gates: int
    peer: int
    peer_s: float
    optimal: bool
    proved: bool
    own_s: float


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield how many of the circuits end with the SWAPs that they need, on the devices of the record table."""
    yield HEAD
    if data is None:
        return
    maps = json.loads((data / "coupling_maps.json").read_text("utf-8"))
    # Every kernel is loaded before a clock runs.
    warm(say)
    for name, device in DEVICES.items():
        for swaps in SWAPS:
            say(f"{swaps} SWAPs on {device}")
            rows = [_measure([(a, b) for a, b in maps[name]], swaps, seed) for seed in SEEDS]
            gates, peer, peer_s, _, _, own_s = (sum(column) / len(rows) for column in zip(*rows, strict=True))
            found, proved = sum(row.optimal for row in rows), sum(row.proved for row in rows)
            theirs, counts = (
                (f"{gates:,.0f}", f"{peer:,.0f}", f"{peer_s:.2f}"),
                (f"{found} of {len(rows)}", str(proved)),
            )
            yield device, str(swaps), str(len(rows)), *theirs, *counts, f"{own_s:.1f}"


def _measure(edges: list[Pair], swaps: int, seed: int) -> Found:
    """Route a circuit by both methods, and check what TIGER returns."""
    circuit = build_circuit(edges, swaps, DENSITY * len({p for edge in edges for p in edge}), seed)
    sabre = PassManager([SabreLayout(CouplingMap([*edges, *((b, a) for a, b in edges)]), seed=0, **LIGHTSABRE)])
    begun = time.process_time()
    peer = sabre.run(circuit).count_ops().get("swap", 0)
    between = time.process_time()
    report = tiger.layout(circuit, edges, level=3, threads=1)
    ended = time.process_time()
    layouts = report.initial_layout, report.final_layout
    start, end = ([at[qubit] for qubit in range(circuit.num_qubits)] for at in layouts)
    if wrong := replay(circuit, report.circuit, start, end):
        raise RuntimeError(f"{swaps} SWAPs on {circuit.num_qubits} qubits: {wrong}")
    if not report.lower_bound <= 3 * swaps <= report.extra_cx:
        raise RuntimeError(f"expected {3 * swaps} extra CX, got {report.lower_bound} to {report.extra_cx}")
    gates, optimal = circuit.count_ops()["cx"], report.extra_cx == 3 * swaps
    return Found(gates, peer, between - begun, optimal, report.optimal, ended - between)


def build_circuit(edges: list[Pair], swaps: int, gates: int, seed: int) -> QuantumCircuit:
    """Return a circuit on all qubits of a device that needs just so many SWAPs, of about so many CX or of more.

    A BRIDGE counts as a SWAP. Rotations before each CX keep it from changing places with others.
    """
    rng, device = np.random.default_rng(seed), nx.Graph(edges)
    # The circuit's qubit on each of the device's.
    holds = dict(zip(device, rng.permutation(len(device)).tolist(), strict=True))
    circuit, root = QuantumCircuit(len(device)), int(rng.choice(len(device)))
    for left in range(swaps, -1, -1):
        section, swap, last = _build_section(device, root, rng) if left else ([], None, None)
        rest = (gates - circuit.count_ops().get("cx", 0)) // (left + 1) - len(section)
        for edge in _fill(section, list(device.edges), max(rest, 0), rng):
            _append(circuit, [holds[p] for p in edge], rng)
        if swap and last:
            a, b = swap
            holds[a], holds[b] = holds[b], holds[a]
            _append(circuit, [holds[p] for p in last], rng)
            root = last[0]
    return circuit


def _build_section(device: nx.Graph, root: int, rng: np.random.Generator) -> tuple[list[Pair], Pair, Pair]:
    """Return pairs of device qubits in the order of their gates, the SWAP after them, and the pair of the last gate.

    That brings together two qubits that are not coupled before the SWAP. One of them, the hub, meets all neighbours of
    its place as well, and so does every qubit on a place with more neighbours than that. So more qubits have more
    partners than the hub's place has neighbours than the device has such places, and they fit it in no layout.
    """
    ways = [
        ((a, b), near)
        for u, v in device.edges
        for a, b in ((u, v), (v, u))
        for near in set(device[a]) - {b, *device[b]}
    ]
    (a, b), near = ways[rng.integers(len(ways))]
    # The SWAP takes what is on b to a, next to `near`.
    hub = (near, b)[rng.integers(2)]
    degree = device.degree[hub]
    core = [edge for edge in device.edges if hub in edge or max(device.degree[p] for p in edge) > degree]
    rng.shuffle(core)
    touched = {p for edge in core for p in edge}
    # All gates wait for the one at the root, which has been in the last section's last, and the next last for them.
    before = _grow_tree(device, root, touched)
    after = [edge[::-1] for edge in reversed(_grow_tree(device, near, touched))]
    return [*before, *map(tuple, core), *after], (a, b), (a, near)


def _grow_tree(device: nx.Graph, root: int, leaves: set[int]) -> list[Pair]:
    """Return the edges of paths from a root to some qubits, those nearer to it first."""
    paths = nx.single_source_shortest_path(device, root)
    edges = {edge: None for leaf in leaves for edge in zip(paths[leaf], paths[leaf][1:], strict=False)}
    return sorted(edges, key=lambda edge: len(paths[edge[1]]))


def _fill(section: list[Pair], edges: list[Pair], count: int, rng: np.random.Generator) -> Iterator[Pair]:
    """Yield the pairs of a section in order, with so many couplings at random places among them."""
    slots = np.bincount(rng.integers(len(section) + 1, size=count), minlength=len(section) + 1)
    for pair, more in zip([*section, None], slots.tolist(), strict=True):
        yield from (edges[k] for k in rng.integers(len(edges), size=more).tolist())
        if pair is not None:
            yield pair


def _append(circuit: QuantumCircuit, pair: list[int], rng: np.random.Generator) -> None:
    """Append a CX with a rotation before it on both qubits."""
    for qubit in pair:
        circuit.u(*rng.uniform(0.3, 2.8, 3).tolist(), qubit)
    circuit.cx(*pair)
