"""Tests of what the Ising formulations propose."""

import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.ising.proposals import Proposal, ProposalParams, compare_movement, place_gates, propose_layouts
from tiger.routing.swaps.shortest import route_shortest_paths

GRID = Coupling.of(9, [(r * 3 + c, r * 3 + c + 1) for r in range(3) for c in range(2)] + [(k, k + 3) for k in range(6)])
APART = Coupling.of(6, [(0, 1), (1, 2), (3, 4), (4, 5)])
NAMES = [
    "static",
    "static at 0.25",
    "static at 0.5",
    "static at 0.75",
    "static, half 16",
    "static, half 4",
    "static around 0.25",
    "static around 0.5",
    "static around 0.75",
    "levels at 0",
    "levels at 0.25",
    "levels at 0.5",
    "levels at 0.75",
]


def random_circuit(qubits: int, gates: int, seed: int = 0) -> GateDag:
    """Return random CX gates."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(qubits, 2, replace=False).tolist() for _ in range(gates)]
    return gate_dag_of(qubits, [Operation((a, b), ("z", "x"), pair=True) for a, b in pairs]).gate_dag


def list_proposals(found: list[Proposal]) -> list[tuple[str, list[bool], list[int]]]:
    """Return proposals as plain values."""
    return [(name, anchor.done.tolist(), anchor.place.tolist()) for name, anchor in found]


@pytest.mark.slow
def test_both_formulations_propose_layouts_by_name() -> None:
    """Static layouts come first, levels last, and all are permutations of the device qubits."""
    found = list(propose_layouts(random_circuit(7, 40), GRID, ProposalParams()))
    assert [proposal.name for proposal in found] == NAMES
    assert all(sorted(proposal.anchor.place.tolist()) == list(range(9)) for proposal in found)


@pytest.mark.slow
def test_what_is_done_has_all_it_waits_for() -> None:
    """Nothing that is left over comes before a node that is done."""
    dag = random_circuit(7, 40)
    heads = np.repeat(np.arange(len(dag.pairs)), np.diff(dag.first))
    for name, anchor in propose_layouts(dag, GRID, ProposalParams()):
        assert not (anchor.done[dag.after] & ~anchor.done[heads]).any()
        assert anchor.done.any() != (name in ("static", "static, half 16", "static, half 4", "levels at 0"))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_proposals() -> None:
    """Proposals are deterministic."""
    dag, params = random_circuit(7, 30), ProposalParams(seed=3)
    first, second = (list_proposals(list(propose_layouts(dag, GRID, params))) for _ in range(2))
    assert first == second


def test_settled_qubits_stay_and_all_proposals_are_for_the_start() -> None:
    """Where a qubit has to start is where it starts in each of them."""
    params = ProposalParams(fixed=np.array([4, -1, -1, 0, -1], np.int32))
    found = list(propose_layouts(random_circuit(5, 20), GRID, params))
    assert [name for name, _ in found] == ["static", "static, half 16", "static, half 4", "levels at 0"]
    assert all(anchor.place[[0, 3]].tolist() == [4, 0] and not anchor.done.any() for _, anchor in found)


@pytest.mark.long
def test_a_sampler_object_proposes() -> None:
    """Any Ocean sampler goes through both formulations."""
    params = ProposalParams(solver=SimulatedAnnealingSampler())
    assert len(list(propose_layouts(random_circuit(4, 6), GRID, params))) == len(NAMES)


def test_a_sampler_lowers_what_levels_cost() -> None:
    """Windows of levels never cost more than the greedy start."""
    dag, place = random_circuit(6, 30), np.arange(9, dtype=np.int32)
    costs = []
    for solver, stop in (("neal", lambda: True), ("neal", bool), ("auto", bool)):
        tasks, arc = place_gates(dag, GRID, ProposalParams(solver=solver), place, stop)
        costs.append(tasks.cost(arc))
    assert max(costs[1:]) < costs[0]


@pytest.mark.slow
def test_each_part_of_a_device_holds_what_meets() -> None:
    """Two circuits of three qubits go to two parts, at all times."""
    pairs = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 2), (3, 5)]
    dag = gate_dag_of(6, [Operation(pair, ("z", "x"), pair=True) for pair in pairs]).gate_dag
    for _, anchor in propose_layouts(dag, APART, ProposalParams()):
        assert len(set(APART.part[anchor.place[:3]].tolist())) == 1
        assert len(set(APART.part[anchor.place[3:]].tolist())) == 1


def test_nothing_is_proposed_where_nothing_fits() -> None:
    """Four qubits that meet fit no part of three."""
    dag = gate_dag_of(4, [Operation((k, k + 1), ("z", "x"), pair=True) for k in range(3)]).gate_dag
    assert list(propose_layouts(dag, APART, ProposalParams())) == []


def test_nothing_is_proposed_without_gates() -> None:
    """Any layout is as good as another."""
    assert list(propose_layouts(gate_dag_of(3, []).gate_dag, GRID, ProposalParams())) == []


def test_gates_inside_a_block_alone_have_static_layouts() -> None:
    """Blocks are no tasks, but their gates want their qubits near."""
    plain = gate_dag_of(3, [Operation((0, 1, 2), (None, None, None))]).gate_dag
    inner = np.array([[0, 0, 2]], np.int32)
    block = GateDag(qubits=3, pairs=plain.pairs, first=plain.first, after=plain.after, bridge=plain.bridge, inner=inner)
    found = list(propose_layouts(block, GRID, ProposalParams()))
    assert not any(name.startswith("levels") for name, _ in found)
    assert GRID.hops[found[0].anchor.place[0], found[0].anchor.place[2]] == 1


def test_told_to_stop_there_is_still_a_first_proposal() -> None:
    """The static layout comes whatever happens, and the times it may be held at."""
    found = list(propose_layouts(random_circuit(7, 40), GRID, ProposalParams(), lambda: True))
    assert [name for name, _ in found] == NAMES[:4]


def test_a_proposal_can_be_routed() -> None:
    """Even the dumb router needs fewer SWAPs from the static layout than from the trivial one."""
    dag = random_circuit(7, 40)
    place = next(propose_layouts(dag, GRID, ProposalParams())).anchor.place
    trivial = route_shortest_paths(dag, GRID, np.arange(9, dtype=np.int32))
    assert route_shortest_paths(dag, GRID, place).swaps < trivial.swaps


def test_small_circuits_get_a_region_of_a_large_device() -> None:
    """On a line of a hundred, layouts of five qubits lie within ten."""
    line = Coupling.of(100, [(k, k + 1) for k in range(99)])
    place = next(propose_layouts(random_circuit(5, 20), line, ProposalParams())).anchor.place
    assert np.ptp(place[:5]) < 10


def test_nothing_is_proposed_where_all_is_settled() -> None:
    """A whole layout leaves no choice."""
    params = ProposalParams(fixed=np.arange(7, dtype=np.int32))
    assert list(propose_layouts(random_circuit(7, 40), GRID, params)) == []


def test_data_moves_less_than_under_the_trivial_layout() -> None:
    """Both formulations ask for less movement; in the levels model nothing counts but what qubits travel."""
    dag = random_circuit(7, 40)
    route = route_shortest_paths(dag, GRID, np.arange(9, dtype=np.int32))
    moved = compare_movement(dag, GRID, route, ProposalParams())
    assert moved.trivial is not None
    assert moved.static_qubo is not None
    assert moved.levels is not None
    assert max(moved.static_qubo, moved.levels) < moved.trivial
    assert moved.routed is not None


def test_data_movement_is_open_where_nothing_fits() -> None:
    """Without a layout there is no figure for the formulations."""
    plain = gate_dag_of(4, [Operation((k, k + 1), ("z", "x"), pair=True) for k in range(3)]).gate_dag
    line = Coupling.of(6, [(k, k + 1) for k in range(5)])
    route = route_shortest_paths(plain, line, np.arange(6, dtype=np.int32))
    assert compare_movement(plain, APART, route, ProposalParams()).to_dict() == {
        "trivial": None,
        "static_qubo": None,
        "levels": None,
        "routed": None,
    }
