"""Tests of the circuits that whole transpilations are measured on."""

import numpy as np
import pytest
import rustworkx as rx
from qiskit import QuantumCircuit, transpile
from qiskit.quantum_info import Operator
from qiskit.transpiler import Target

from benchmarks.delivered import devices
from benchmarks.programs import _hidden_weighted_bit, _memory, programs
from tiger.circuits.transpiler.target import coupling_of


def test_hidden_weighted_bit_turns_words_by_their_ones() -> None:
    """Every word of four bits."""
    matrix = Operator(_hidden_weighted_bit(4)).data
    for word in range(16):
        ones = word.bit_count() % 4
        assert np.argmax(abs(matrix[:, word])) == (word << ones | word >> (4 - ones)) & 15


def test_memory_reads_the_cell_of_the_address() -> None:
    """A memory of two cells: each address reads its own, counted from the end."""
    circuit = _memory(1, np.random.default_rng(0))
    cells = [int(any(each.operation.name == "x" and circuit.find_bit(each.qubits[0]).index == 3 + k
                     for each in circuit.data)) for k in range(2)]  # fmt: skip
    assert sorted(cells) == [0, 1]
    ready = QuantumCircuit(circuit.num_qubits)
    # The address is given instead of both at once.
    for each in circuit.data:
        if each.operation.name != "h":
            ready.append(each.operation, [circuit.find_bit(qubit).index for qubit in each.qubits])
    matrix = Operator(ready).data
    for address in range(2):
        after = int(np.argmax(abs(matrix[:, address])))
        assert (after & 1, after >> 5 & 1) == (address, cells[1 - address])


@pytest.fixture(scope="module")
def interactions() -> dict[str, rx.PyGraph]:
    """Return which qubits of each program meet."""
    made = {}
    for name, circuit in programs(0):
        flat = transpile(circuit, basis_gates=["u", "cx"], optimization_level=1)
        pairs = {tuple(sorted(flat.find_bit(q).index for q in each.qubits)) for each in flat.data if each.name == "cx"}
        made[name] = rx.PyGraph()
        made[name].extend_from_edge_list([*pairs])
    return made


@pytest.mark.long
# Classes of Qiskit's library that its functions do not replace gate by gate.
@pytest.mark.filterwarnings("ignore:The class:DeprecationWarning")
@pytest.mark.parametrize(("device", "target"), list(devices()), ids=[name for name, _ in devices()])
def test_every_program_needs_a_swap(interactions: dict[str, rx.PyGraph], device: str, target: Target) -> None:
    """Its partners fit the device in no layout."""
    edges = coupling_of(target).edges.tolist()
    whole = rx.PyGraph()
    whole.extend_from_edge_list([tuple(edge) for edge in edges])
    assert len(interactions) == 25
    for name, graph in interactions.items():
        found = rx.vf2_mapping(whole, graph, subgraph=True, induced=False, call_limit=3_000_000)
        assert next(iter(found), None) is None, f"{name} on {device}"
