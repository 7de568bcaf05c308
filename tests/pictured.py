"""Small reports that pictures are drawn of."""

from dataclasses import replace

import networkx as nx
from qiskit.circuit import QuantumCircuit

import tiger
from tiger.circuits.entry.report import CircuitReport
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.stage import Link, PlacedStage
from tiger.run.report import Report
from tiger.run.stage import Stage

# Markup, and what matplotlib would take as a formula.
ODD = "<b>$x^$"


def map_stencil() -> Report:
    """Return the report of nine tasks on a torus, one of which has an odd name."""
    graph = nx.grid_2d_graph(3, 3)
    return tiger.assign(nx.relabel_nodes(graph, {(0, 0): ODD}), "torus:3x3")


def lay_out_circuit() -> CircuitReport:
    """Return the report of three qubits on a line of four, with a SWAP in the second layer."""
    circuit = QuantumCircuit(4)
    circuit.cx(0, 1)
    circuit.swap(1, 2)
    circuit.cx(0, 1)
    gates = [{"name": "cx", "qubits": [k, k + 1], "error": 0.01 * (k + 1)} for k in range(3)]
    measure = [{"qubit": k, "error": 0.02 + 0.01 * (k == 3)} for k in range(4)]
    stages = tuple(Stage(name=name, cost=cost, seconds=0.5) for name, cost in (("sabre", 6.0), ("search", 3.0)))
    return CircuitReport(
        feasible=True,
        initial_layout={0: 0, 1: 1, 2: 2},
        final_layout={0: 0, 1: 2, 2: 1},
        circuit=circuit,
        swaps=1,
        extra_cx=3,
        baseline_extra_cx=6,
        solver="auto",
        level=1,
        objective="cx",
        seed=0,
        stages=stages,
        seconds=1.0,
        device=tiger_device(gates, measure),
    )


def tiger_device(gates: list[dict[str, object]], measure: list[dict[str, object]]) -> object:
    """Return a device with errors."""
    from tiger.circuits.entry.hardware import device_of_document

    return device_of_document({"num_qubits": 4, "gates": gates, "measure": measure})


def place_stages(*links: Link) -> PlacementReport:
    """Return a report of two stages that send each other some bytes, without its model."""
    stages = tuple(
        PlacedStage(
            device=name,
            ops=("layer",),
            compute_s=1.0,
            communication_s=0.1,
            memory_bytes=1e9,
            capacity_bytes=None,
            devices=((name,),),
        )
        for name in ("gpu0", ODD)
    )
    progress = (Stage(name="order", cost=1.1, seconds=0.25),)
    report = PlacementReport(feasible=True, solver="auto", seed=0, seconds=0.0, stages=stages, progress=progress)
    return replace(report, links=links, bottleneck_s=1.1, uniform_bottleneck_s=2.2)
