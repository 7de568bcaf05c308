"""Tests of blocks of gates and of what SWAPs beside them cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter
from qiskit.circuit.library import CXGate, SwapGate, iSwapGate
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.quantum_info import Operator, random_unitary
from qiskit.synthesis import TwoQubitBasisDecomposer, TwoQubitWeylDecomposition
from qiskit.transpiler import CouplingMap

from tiger.circuits.transpiler.blocks import Coordinates, basis_of, count_gates, list_blocks, price_swaps
from tiger.circuits.transpiler.model import model_of

GATES = {"cx": CXGate(), "iswap": iSwapGate()}
SWAP = SwapGate().to_matrix()


def locate(matrix: np.ndarray) -> Coordinates:
    """Return the coordinates of a matrix."""
    found = TwoQubitWeylDecomposition(matrix)
    return Coordinates(found.a, found.b, abs(found.c))


def price(circuit: QuantumCircuit, *basis: str) -> list[int]:
    """Return the prices of SWAPs beside the gates of a circuit."""
    model = model_of(circuit)
    return price_swaps(model, basis)[0][:-1][model.gate_dag.pairs[:, 0] >= 0].tolist()


@given(seed=st.integers(0, 10**6), kind=st.integers(0, 4), basis=st.sampled_from(["cx", "iswap"]))
def test_counts_are_those_of_qiskit(seed: int, kind: int, basis: str) -> None:
    """Random blocks of none to three CX, and these with a SWAP, take as many gates as Qiskit's decomposer says."""
    rng = np.random.default_rng(seed)
    matrix = random_unitary(4, rng).data if kind == 4 else np.eye(4)
    for _ in range(kind % 4):
        sides = np.kron(random_unitary(2, rng).data, random_unitary(2, rng).data)
        matrix = sides @ CXGate().to_matrix() @ matrix
    peer = TwoQubitBasisDecomposer(GATES[basis])
    own = locate(matrix)
    assert count_gates(own, (basis,)) == peer.num_basis_gates(matrix)
    assert count_gates(own.mirror(), (basis,)) == peer.num_basis_gates(SWAP @ matrix)


@pytest.mark.parametrize(
    ("name", "costs"),
    [("cx", (1, 1, 0)), ("cz", (1, 1, 0)), ("ecr", (1, 1, 0)), ("iswap", (0, 1, 0)), ("rzz", (1, 2, 0))],
)
def test_swaps_beside_gates_cost_what_the_basis_says(name: str, costs: tuple[int, int, int]) -> None:
    """A SWAP makes two gates of a CX, three of a controlled phase, and nothing more of a block of three."""
    made = []
    for gate in ("cx", "cp", "three"):
        circuit = QuantumCircuit(2)
        if gate == "three":
            circuit.unitary(random_unitary(4, seed=1), (0, 1))
        else:
            circuit.cx(0, 1) if gate == "cx" else circuit.cp(0.3, 0, 1)
        made += [(each - 1) / 4 for each in price(circuit, name)]
    assert tuple(made) == costs


def test_blocks_hold_gates_in_a_row_on_a_pair() -> None:
    """Gates on one qubit between them belong to a block, and a gate elsewhere or a barrier ends it."""
    circuit = QuantumCircuit(3)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.t(1)
    circuit.cx(1, 0)
    circuit.cx(1, 2)
    circuit.barrier()
    circuit.cx(1, 2)
    names = [[model_of(circuit).operations[i].name for i in block] for block in list_blocks(model_of(circuit))]
    assert names == [["cx", "t", "cx"], ["cx"], ["cx"]]


@pytest.mark.parametrize("seed", range(6))
def test_the_price_of_a_block_is_that_of_its_matrix(seed: int) -> None:
    """Every gate of a block has the price of the block as Qiskit makes it."""
    rng, circuit = np.random.default_rng(seed), QuantumCircuit(2)
    for _ in range(int(rng.integers(1, 4))):
        circuit.cx(*rng.permutation(2).tolist())
        circuit.ry(float(rng.random()), int(rng.integers(2)))
    peer, whole = TwoQubitBasisDecomposer(CXGate()), Operator(circuit).data
    extra = max(peer.num_basis_gates(SWAP @ whole) - peer.num_basis_gates(whole), 0)
    assert set(price(circuit, "cx")) == {1 + 4 * extra}


def test_gates_without_a_matrix_fuse_with_nothing() -> None:
    """A parameter leaves open what a block is; so SWAPs beside it cost as elsewhere."""
    circuit = QuantumCircuit(2)
    circuit.rzz(Parameter("x"), 0, 1)
    assert price_swaps(model_of(circuit), ("cx",))[0].tolist() == [13, 13]


def test_the_basis_is_read_from_a_target() -> None:
    """Gates of which the number in a block is not known are left out, and a coupling map has none."""
    backend = GenericBackendV2(2, ["cz", "rz", "sx", "x", "swap"], seed=1)
    assert basis_of(backend.target) == ("cz",)
    assert basis_of(CouplingMap.from_line(2)) == ()
