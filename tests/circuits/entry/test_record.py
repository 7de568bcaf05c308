"""A Target as JSON."""

from typing import Any

import pytest

from tiger.circuits.entry.record import target_of
from tiger.circuits.transpiler.target import coupling_of
from tiger.errors import InputError

PAIR = {"name": "cx", "qubits": [0, 1], "error": 0.01, "duration": 3e-7}


def record(**fields: object) -> dict[str, Any]:
    """Return a device of three qubits, two of them coupled."""
    return {"num_qubits": 3, "gates": [PAIR], **fields}


def test_a_record_becomes_a_target() -> None:
    """Gates, readout and times are those stated, the standard gates Qiskit's own."""
    gates = [PAIR, {"name": "sx", "qubits": [2]}, {"name": "zap", "qubits": [2, 1], "error": 0.5}]
    measure, times = [{"qubit": 1, "error": 0.02, "duration": 1e-6}], [{"qubit": 2, "t1": 1e-4, "t2": 5e-5}]
    target = target_of(record(gates=gates, measure=measure, qubits=times), 10)
    assert (target["cx"][(0, 1)].error, target["cx"][(0, 1)].duration) == (0.01, 3e-7)
    assert (target["sx"][(2,)].error, target["measure"][(1,)].error) == (None, 0.02)
    assert (target.qubit_properties[2].t1, target.qubit_properties[2].t2, target.qubit_properties[0].t1) == (
        1e-4,
        5e-5,
        None,
    )
    assert (target.operation_from_name("zap").num_qubits, target.operation_from_name("cx").base_class.__name__) == (
        2,
        "CXGate",
    )


def test_faulty_and_missing_gates_couple_nothing() -> None:
    """An error of 1 is as good as no gate."""
    gates = [PAIR, {"name": "cx", "qubits": [1, 2], "error": 1}]
    assert coupling_of(target_of(record(gates=gates), 10)).edges.tolist() == [[0, 1]]


def test_a_lone_qubit_needs_no_pair() -> None:
    """There is nothing to couple."""
    assert target_of({"num_qubits": 1, "gates": []}, 10).num_qubits == 1


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"num_qubits": None}, "num_qubits"),
        ({"num_qubits": 0}, "num_qubits"),
        ({"num_qubits": 11}, "num_qubits"),
        ({"num_qubits": 10**9}, "num_qubits"),
        ({"name": "mine"}, "name"),
        ({"gates": {}}, "gates"),
        ({"gates": [5]}, "gates/0"),
        ({"gates": []}, "gates"),
        ({"gates": [{"name": "sx", "qubits": [0]}]}, "gates"),
        ({"gates": [PAIR | {"name": 5}]}, "gates/0/name"),
        ({"gates": [PAIR | {"name": "measure"}]}, "gates/0/name"),
        ({"gates": [PAIR | {"name": "a b"}]}, "gates/0/name"),
        ({"gates": [PAIR | {"qubits": 5}]}, "gates/0/qubits"),
        ({"gates": [PAIR | {"qubits": [0, 1, 2]}]}, "gates/0/qubits"),
        ({"gates": [PAIR | {"qubits": [0, 3]}]}, "gates/0/qubits/1"),
        ({"gates": [PAIR | {"qubits": [1, 1]}]}, "gates/0/qubits/1"),
        ({"gates": [PAIR, PAIR]}, "gates/1/qubits"),
        ({"gates": [PAIR, PAIR | {"qubits": [2]}]}, "gates/1/qubits"),
        ({"gates": [PAIR | {"error": 2}]}, "gates/0/error"),
        ({"gates": [PAIR | {"error": float("nan")}]}, "gates/0/error"),
        ({"gates": [PAIR | {"duration": -1}]}, "gates/0/duration"),
        ({"gates": [PAIR | {"fidelity": 1}]}, "gates/0/fidelity"),
        ({"measure": [{"qubit": 3}]}, "measure/0/qubit"),
        ({"measure": [{"qubit": 0}, {"qubit": 0}]}, "measure/1/qubit"),
        ({"measure": [{"qubit": 0, "error": "low"}]}, "measure/0/error"),
        ({"measure": [{"qubits": [0]}]}, "measure/0/qubits"),
        ({"qubits": [{"qubit": 0, "t1": "long"}]}, "qubits/0/t1"),
        ({"qubits": [{"t1": 1}]}, "qubits/0/qubit"),
        ({"qubits": 3}, "qubits"),
    ],
    ids=str,
)
def test_bad_records_are_named(fields: dict[str, object], field: str) -> None:
    """The pointer leads to the number at fault."""
    with pytest.raises(InputError) as caught:
        target_of(record(**fields), 10)
    assert caught.value.field == f"topology/{field}"
