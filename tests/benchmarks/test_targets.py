"""Tests of what whole transpilations to several bases are measured on, and of peak memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from qiskit import QuantumCircuit

from benchmarks.memory import read_peak_mb
from benchmarks.targets import CASES, build_target, measure_peak_mb


@pytest.mark.slow
def test_devices_are_ibms_and_have_ecr_one_way() -> None:
    """The other gates have both."""
    sizes = {build_target(case).num_qubits for case in CASES}
    assert sizes == {127, 433}
    pairs = {case.basis: len(build_target(case).build_coupling_map().get_edges()) for case in CASES[:5]}
    assert pairs == {"cx": 288, "cz": 288, "ecr": 144, "iswap": 288, "rzz": 288}


@pytest.mark.slow
def test_bug_peak_memory_of_a_process_began_at_that_of_its_parent() -> None:
    """The kernel counts what the parent had when it started the process."""
    held = np.ones(10_000_000)
    code = "from benchmarks.memory import read_peak_mb; print(read_peak_mb())"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=Path(__file__).parents[2])
    assert 0 < float(run.stdout) < held.nbytes / 2**20 < read_peak_mb()


@pytest.mark.long
def test_memory_is_that_of_a_process_of_its_own() -> None:
    """It has Qiskit, and nothing of what this process holds."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    held = np.ones(50_000_000)
    assert 50 < measure_peak_mb(circuit, build_target(CASES[0]), 0, None) < held.nbytes / 2**20
