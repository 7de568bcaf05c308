"""A circuit on a device as pictures show it: where its qubits start and end, its gates in layers, and its SWAPs."""

import numpy as np

from tiger.circuits.drawing.routed import CircuitView
from tiger.circuits.entry.hardware import Device
from tiger.circuits.entry.layers import Circuit, LayeredGates, list_gates
from tiger.circuits.entry.reading import qasm_circuit
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.entry.scan import CircuitLimits
from tiger.circuits.transpiler.target import coupling_of, has_errors, listed_coupling
from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.routing.coupling import Coupling
from tiger.routing.error_rates import errors_of_target
from tiger.run.drawing.graph import GraphView
from tiger.run.drawing.tasks import GraphEdges, view_edges

# What a browser draws without a pause, and bars that fit beside each other on a screen.
GATES, BINS = 20_000, 200


def view_circuit(report: CircuitReport, device: Device) -> CircuitView:
    """Return the view of a report on a device, as `tiger.circuits.entry.hardware` reads it.

    Raises InputError of `circuit` for a report without a routed circuit.
    """
    gates = list_gates(_read_routed(report))
    coupling = _drawn(device, gates)
    a, b = coupling.edges.astype(np.int64).T
    edges = GraphEdges(a, b, np.ones(len(a)), directed=False)
    graph, groups = view_edges(tuple(map(str, range(coupling.size))), edges)
    vertex = np.append(groups.group_of, -1)
    pair, readout = _errors(device)
    bins = min(gates.layers, BINS)
    swaps = gates.layer[np.array(gates.name) == "swap"] if gates.name else gates.layer
    return CircuitView(
        device=graph,
        edge_error=_edge_errors(graph, (vertex[a], vertex[b]), None if pair is None else pair[a, b]),
        readout_error=_means(vertex[:-1], readout, len(graph.names)),
        initial=tuple(vertex[[spot for _, spot in sorted(report.initial_layout.items())]].tolist()),
        final=tuple(vertex[[spot for _, spot in sorted(report.final_layout.items())]].tolist()),
        name=gates.name[:GATES],
        first=tuple(vertex[gates.first[:GATES]].tolist()),
        second=tuple(vertex[gates.second[:GATES]].tolist()),
        layer=tuple(gates.layer[:GATES].tolist()),
        layers=gates.layers,
        total_gates=len(gates.name),
        swaps=tuple(np.bincount(swaps * bins // max(gates.layers, 1), minlength=bins).tolist()),
        layers_per_bin=gates.layers / max(bins, 1),
    )


def _drawn(device: Device, gates: LayeredGates) -> Coupling:
    """Return the pairs that are drawn: those that work, and faulty ones that the circuit uses."""
    working, used = coupling_of(device), set(zip(gates.first.tolist(), gates.second.tolist(), strict=True))
    listed = listed_coupling(device).edges.tolist()
    faulty = [(a, b) for a, b in listed if {(a, b), (b, a)} & used]
    return Coupling.of(working.size, [*[(a, b) for a, b in working.edges.tolist()], *faulty])


def _read_routed(report: CircuitReport) -> Circuit:
    """Return the routed circuit of a report, which one that comes from a document has as text."""
    if report.circuit is not None:
        return report.circuit
    if report.qasm is None:
        raise InputError("circuit", "expected a routed circuit, got a report without one")
    return qasm_circuit(report.qasm, CircuitLimits())


def _errors(device: Device) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the errors of gates [N, N] and of readout [N], None where no error is known."""
    if not has_errors(device):
        return None, None
    errors = errors_of_target(device)
    return np.minimum(errors.pair, errors.pair.T), errors.readout if errors.readout.any() else None


def _edge_errors(
    graph: GraphView, ends: tuple[IntArray, IntArray], error: FloatArray | None
) -> tuple[float | None, ...]:
    """Return the mean error of the edges that each edge of the view stands for."""
    if error is None:
        return (None,) * len(graph.a)
    size = len(graph.names)
    # Edges of a view are sorted by their ends.
    known = np.array(graph.a, np.int64) * size + np.array(graph.b, np.int64)
    key = np.minimum(*ends) * size + np.maximum(*ends)
    mine = np.isin(key, known)
    return _means(np.searchsorted(known, key[mine]), error[mine], len(known))


def _means(group_of: IntArray, values: FloatArray | None, groups: int) -> tuple[float | None, ...]:
    """Return the mean of each group, None where nothing is known."""
    if values is None:
        return (None,) * groups
    means = np.bincount(group_of, values, groups) / np.bincount(group_of, minlength=groups)
    return tuple(means.tolist())
