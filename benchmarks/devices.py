"""Circuits and devices that mapping is measured on: made here, or read from a folder of OpenQASM files."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import rustworkx as rx
from qiskit import QuantumCircuit, qasm2, transpile
from qiskit.circuit.library import CDKMRippleCarryAdder, PhaseEstimation, QFTGate, quantum_volume

from tiger.circuits.entry.hardware import read_device
from tiger.circuits.transpiler.target import coupling_of
from tiger.routing.coupling import Coupling

FOLDERS = ("revlib", "qasmbench")
DENSE_MAPS = ("tokyo20",)
SPARSE_MAPS = ("falcon27", "eagle127")


@dataclass(frozen=True, slots=True)
class Case:
    """Hold a circuit of {u, cx} gates and the device it goes on."""

    family: str
    name: str
    circuit: QuantumCircuit
    coupling: Coupling


def cases(seed: int) -> Iterator[Case]:
    """Yield circuits of Qiskit's library on a grid and on heavy-hexagon lattices."""
    small, large = (coupling_of(read_device(spec)) for spec in ("grid:4x5", "heavy-hex:5"))
    for device, width in ((small, 16), (large, 40)):
        yield Case("Fourier transform", f"QFT {width}", _to_u_cx(_fourier(width)), device)
        yield Case("QAOA", f"QAOA {width}", _to_u_cx(_qaoa(width, seed)), device)
        yield Case("adder", f"adder {width}", _to_u_cx(CDKMRippleCarryAdder(width // 2 - 1)), device)
    yield Case("phase estimation", "QPE 12", _to_u_cx(PhaseEstimation(11, QuantumCircuit(1))), small)
    yield Case("quantum volume", "QV 16 x 16", _to_u_cx(quantum_volume(16, 16, seed=seed)), small)


def load_circuits(folder: Path) -> Iterator[Case]:
    """Yield the circuits of the published sets on the devices that fit them."""
    maps = json.loads((folder / "coupling_maps.json").read_text("utf-8"))
    for family in FOLDERS:
        for path in sorted((folder / family).glob("*.qasm")):
            circuit = _to_u_cx(qasm2.load(path, include_path=(), custom_instructions=qasm2.LEGACY_CUSTOM_INSTRUCTIONS))
            order = DENSE_MAPS + SPARSE_MAPS if family == "revlib" else SPARSE_MAPS
            devices = [Coupling.of(1 + max(map(max, maps[name])), map(tuple, maps[name])) for name in order]
            yield Case(family, path.stem, circuit, next(d for d in devices if d.size >= circuit.num_qubits))


def _to_u_cx(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return the gates of a circuit as {u, cx}, without measurements and barriers, not optimised."""
    gates = QuantumCircuit(circuit.num_qubits)
    for each in circuit.data:
        if each.operation.name not in ("measure", "barrier", "reset"):
            gates.append(each.operation, [circuit.find_bit(qubit).index for qubit in each.qubits])
    return transpile(gates, basis_gates=["u", "cx"], optimization_level=0)


def _fourier(width: int) -> QuantumCircuit:
    """Return the quantum Fourier transform."""
    circuit = QuantumCircuit(width)
    circuit.append(QFTGate(width), range(width))
    return circuit


def _qaoa(width: int, seed: int) -> QuantumCircuit:
    """Return two layers of QAOA for a random cubic graph."""
    graph, rng, circuit = rx.PyGraph(), np.random.default_rng(seed), QuantumCircuit(width)
    graph.add_nodes_from(range(width))
    for _ in range(3):
        order = rng.permutation(width)
        graph.add_edges_from_no_data(list(zip(order[::2].tolist(), order[1::2].tolist(), strict=True)))
    for _ in range(2):
        for a, b in graph.edge_list():
            circuit.rzz(0.7, a, b)
        circuit.rx(0.4, range(width))
    return circuit
