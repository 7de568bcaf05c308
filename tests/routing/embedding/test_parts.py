"""Tests of circuits on devices in several parts."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.routing.coupling import Coupling
from tiger.routing.embedding.parts import ANYWHERE, allot_parts, pack
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of

TWO = Coupling.of(7, [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6)])
SMALL, LARGE = int(TWO.part[0]), int(TWO.part[3])


def _build_dag(qubits: int, *pairs: tuple[int, int]) -> GateDag:
    """Return a circuit of CX gates."""
    return gate_dag_of(qubits, [Operation(pair, ("z", "x"), pair=True) for pair in pairs]).gate_dag


def test_components_go_where_there_is_room() -> None:
    """Four and three qubits fill both parts exactly."""
    allotment = allot_parts(_build_dag(7, (0, 1), (1, 2), (3, 4), (4, 5), (5, 6)), TWO)
    assert allotment.part.tolist() == [SMALL] * 3 + [LARGE] * 4
    assert TWO.part[allotment.start].tolist() == allotment.part.tolist()
    assert sorted(allotment.start) == list(range(7))


def test_idle_qubits_fill_what_is_left() -> None:
    """A qubit without pairs may be anywhere and takes no room from the others."""
    allotment = allot_parts(_build_dag(7, (1, 2), (2, 3), (3, 4), (5, 6)), TWO)
    assert allotment.part[0] == ANYWHERE
    assert TWO.part[allotment.start[1:5]].tolist() == [LARGE] * 4


def test_barriers_do_not_connect_but_control_flow_does() -> None:
    """A node without a pair joins no qubits; the pairs inside a block of control flow do."""
    plain = gate_dag_of(4, [Operation((0, 1, 2, 3), (None,) * 4)]).gate_dag
    block = GateDag(
        qubits=4,
        pairs=plain.pairs,
        first=plain.first,
        after=plain.after,
        bridge=plain.bridge,
        inner=np.array([[0, 0, 3], [0, 1, 3], [0, 2, 3]], np.int32),
    )
    assert allot_parts(plain, TWO).part.tolist() == [ANYWHERE] * 4
    assert allot_parts(block, TWO).part.tolist() == [LARGE] * 4


def test_first_fit_is_not_the_last_word() -> None:
    """Items of 4, 3, 3 and 2, 2, 2 fill two bins of 8 only by a search; what cannot be packed has no packing."""
    sizes, room = [4, 3, 3, 2, 2, 2], [8, 8]
    choice = pack(sizes, room)
    assert choice is not None
    assert np.bincount(choice, weights=sizes).tolist() == [8, 8]
    assert pack([3, 3, 3], [5, 4]) is None
    assert pack([], []) == []


def test_packing_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within too few steps no packing is found."""
    monkeypatch.setattr("tiger.routing.embedding.parts.TRIALS", 2)
    assert pack([1, 1, 1], [3]) is None


def test_too_large_components_are_bad_input() -> None:
    """Five qubits that meet fit neither part, and both sizes are named."""
    with pytest.raises(InputError, match=r"connected parts of 5 qubits for parts of 4, 3 on the device") as caught:
        allot_parts(_build_dag(5, (0, 1), (1, 2), (2, 3), (3, 4)), TWO)
    assert caught.value.field == "circuit"


def test_many_components_are_cut_short_in_messages() -> None:
    """Only the five largest are named."""
    with pytest.raises(InputError, match=r"parts of 2, 2, 2, 2, 2, .. qubits"):
        allot_parts(_build_dag(12, *((k, k + 1) for k in range(0, 12, 2))), Coupling.of(12, [(0, 1)]))


def test_too_many_qubits_are_bad_input() -> None:
    """Eight qubits, though idle, do not fit seven."""
    with pytest.raises(InputError, match="expected at most 7 qubits, got 8"):
        allot_parts(_build_dag(8), TWO)


def test_fixed_places_decide() -> None:
    """A fixed qubit draws its component along, and everything stays where it is fixed."""
    fixed = np.array([-1, 2, -1, -1, 6], np.int32)
    allotment = allot_parts(_build_dag(5, (0, 1), (2, 3)), TWO, fixed)
    assert allotment.part.tolist() == [SMALL, SMALL, LARGE, LARGE, ANYWHERE]
    assert allotment.start[[1, 4]].tolist() == [2, 6]
    assert TWO.part[allotment.start[:4]].tolist() == [SMALL, SMALL, LARGE, LARGE]


def test_fixed_places_may_leave_no_room() -> None:
    """Two idle qubits fixed in the small part leave one place for a component that is bound to it."""
    with pytest.raises(InputError, match="connected parts of 2 qubits"):
        allot_parts(_build_dag(4, (0, 1)), TWO, np.array([0, -1, 1, 2], np.int32))


def test_fixed_places_must_not_tear_a_component() -> None:
    """Two qubits that have to meet are fixed in different parts."""
    with pytest.raises(InputError, match="expected qubits 0 and 2, which have to meet") as caught:
        allot_parts(_build_dag(3, (0, 1), (1, 2)), TWO, np.array([0, -1, 5], np.int32))
    assert caught.value.field == "initial_layout"
