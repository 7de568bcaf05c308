"""Tests of what the environment sets of the plugins."""

import pytest
from qiskit.transpiler import TranspilerError

from tiger.circuits.transpiler.environment import read_effort, read_qubits, read_solver, read_time_limit


def test_nothing_is_set_by_default() -> None:
    """A search has effort 1, all of the device and no limit."""
    assert (read_effort(), read_solver(), read_time_limit(), read_qubits(5)) == (1, "auto", None, None)


def test_qubits_are_numbers_and_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks do not matter, nor does what is said twice."""
    monkeypatch.setenv("TIGER_LAYOUT_QUBITS", "0, 2,4-6 ,5")
    assert read_qubits(7) == {0, 2, 4, 5, 6}


@pytest.mark.parametrize("qubits", ["", "7", "4-7", "3-2", "-1", "a", "1,,2", "1-2-3"])
def test_qubits_that_there_are_not_are_refused(monkeypatch: pytest.MonkeyPatch, qubits: str) -> None:
    """The message names the variable, and what there is."""
    monkeypatch.setenv("TIGER_LAYOUT_QUBITS", qubits)
    with pytest.raises(TranspilerError, match="TIGER_LAYOUT_QUBITS: expected device qubits from 0 to 6 such as"):
        read_qubits(7)


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan", "long", ""])
def test_a_limit_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    """One of none at all would be no limit."""
    monkeypatch.setenv("TIGER_LAYOUT_TIME_S", "2.5")
    assert read_time_limit() == 2.5
    monkeypatch.setenv("TIGER_LAYOUT_TIME_S", seconds)
    with pytest.raises(TranspilerError, match="TIGER_LAYOUT_TIME_S: expected a number of seconds above 0, found"):
        read_time_limit()
