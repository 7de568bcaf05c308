"""Tests of the table of extra CX gates."""

import sys

import pytest
from qiskit import QuantumCircuit

from benchmarks.circuits import _cell, _check, _measure
from benchmarks.devices import Case
from benchmarks.peers import is_installed
from tiger.routing.coupling import Coupling

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])


def make_case() -> Case:
    """Return a star of gates with rotations between them, on a line."""
    circuit = QuantumCircuit(4)
    for qubit in (1, 2, 3, 1):
        circuit.u(0.1, 0.2, 0.3, 0)
        circuit.cx(0, qubit)
    return Case("star", "star 4", circuit, LINE)


@pytest.mark.slow
def test_bug_the_table_ended_where_tket_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its column says so, and the others are measured."""
    monkeypatch.setitem(sys.modules, "pytket", None)
    assert not is_installed("pytket.extensions.qiskit")
    row = _measure(make_case())
    assert [each is None for each in row] == [False, False, True, False, False]
    qiskit, sabre, _, quick, best = (each or (0.0, 0.0) for each in row)
    assert best[0] <= min(quick[0], qiskit[0])
    # SABRE goes on for as long as level 3 took.
    assert sabre[1] >= best[1] / 2
    assert _cell([row[2]], [row[0]]) == "not installed"


def test_other_circuits_are_refused() -> None:
    """Those on pairs that are not coupled, and those that are not the original."""
    case = make_case()
    with pytest.raises(RuntimeError, match="star 4: a gate is on no edge"):
        _check(case, case.circuit, "")
    with pytest.raises(RuntimeError, match="star 4: another"):
        _check(case, case.circuit, "another")
