"""Tests of what is said of circuits."""

from dataclasses import replace

import pytest

from tests.reports import CIRCUIT
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.explanation import explain_circuit
from tiger.model.violation import Violation

FREE = replace(CIRCUIT, extra_cx=0, swaps=0, bridges=0)


def test_the_figures_are_those_of_the_report() -> None:
    """What routing added, beside Qiskit."""
    told = explain_circuit(CIRCUIT)
    assert told.found[0].startswith("2 qubits placed and routed with 2 SWAPs and 1 BRIDGE, which are 9 extra CX")
    assert told.quality[0] == "The extra CX is 25% below the 12 of Qiskit's own, at the same level and seed."
    assert told.quality[1] == "The depth is 11% above the 18 of Qiskit's own, at the same level and seed."
    assert told.quality[2].startswith("The success is that of Qiskit's own")


@pytest.mark.parametrize(
    ("report", "advice"),
    [
        (CIRCUIT, "The level was 2: --level 3 searches longest."),
        (replace(CIRCUIT, level=3), "Search on with a larger --effort, and try other seeds than --seed 3."),
        (CIRCUIT, "--objective depth"),
        (CIRCUIT, "--objective success"),
        (FREE, "Neither more effort nor a higher level can lower the extra CX."),
        (replace(CIRCUIT, lower_bound=9), "Neither more effort nor a higher level can lower the extra CX."),
    ],
)
def test_advice_follows_from_the_report(report: CircuitReport, advice: str) -> None:
    """Each where its reason holds."""
    assert any(advice in text for text in explain_circuit(report).advice)


@pytest.mark.parametrize(
    ("report", "advice"),
    [
        (FREE, "--effort"),
        (FREE, "--level"),
        (replace(CIRCUIT, depth=18), "--objective depth"),
        (replace(CIRCUIT, success_probability=None), "--objective success"),
        (replace(CIRCUIT, objective="success"), "--objective"),
    ],
)
def test_advice_without_a_reason_is_not_given(report: CircuitReport, advice: str) -> None:
    """What would not help this report is left out."""
    assert not any(advice in text for text in explain_circuit(report).advice)


@pytest.mark.parametrize(
    ("bound", "sentence"),
    [
        (9, "No routing adds fewer extra CX: their number is proved to be the least."),
        (6, "No routing adds fewer than 6 extra CX, so that at most 34% can still be gained."),
        (0, "No useful lower bound is known, so that the fewest extra CX may be any number."),
        (None, "No useful lower bound is known, so that the fewest extra CX may be any number."),
    ],
)
def test_the_bound_is_part_of_the_quality(bound: int | None, sentence: str) -> None:
    """Met, below the result, or of no use."""
    assert sentence in explain_circuit(replace(CIRCUIT, lower_bound=bound)).quality


def test_what_cannot_be_met_comes_with_help() -> None:
    """A device that is too small."""
    unmet = (Violation(kind="qubits", message="the circuit has 10 qubits, the device 9"),)
    told = explain_circuit(replace(CIRCUIT, extra_cx=None, violations=unmet, feasible=False))
    assert told.found == ("No layout meets what is asked.",)
    assert told.advice == ("Take a device with more qubits, or a circuit with fewer.",)
