"""Tests of the circuits that can be written in other ways."""

import numpy as np
import pytest
from qiskit.quantum_info import Clifford

from benchmarks.logical import circuits, devices, draw_clifford, draw_permutations


# A class of Qiskit's library that its functions do not replace gate by gate.
@pytest.mark.filterwarnings("ignore:The class:DeprecationWarning")
def test_every_circuit_fits_a_device() -> None:
    """Names are different, and the widest is as wide as the line."""
    made = list(circuits())
    assert len({name for name, _ in made}) == len(made)
    assert max(circuit.num_qubits for _, circuit in made) == next(devices())[1].num_qubits


def test_clifford_circuits_are_clifford() -> None:
    """Qiskit reads a tableau from one."""
    assert Clifford(draw_clifford(4, 20, np.random.default_rng(0))).num_qubits == 4


def test_permutations_are_three_cx_each() -> None:
    """Half as many changes of places as there are qubits, three times, with as many rotations of pairs."""
    counts = draw_permutations(6, np.random.default_rng(0)).count_ops()
    assert (counts["cx"], counts["rzz"]) == (27, 9)
