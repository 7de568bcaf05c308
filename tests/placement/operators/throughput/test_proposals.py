"""Tests of what annealing tries, as plain Python."""

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tests.placement.operators.plain import interpret
from tiger.model.arrays import IntArray
from tiger.placement.operators.linear_orders import arcs, components, draw_linear_order
from tiger.placement.operators.throughput import proposals
from tiger.placement.operators.throughput.proposals import make_proposal
from tiger.placement.operators.throughput.state import make_state
from tiger.placement.operators.throughput.tables import make_tables
from tiger.solvers.generator import seed_state

NONE: IntArray = np.empty(0, np.int64)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch)


@pytest.mark.parametrize("seed", range(8))
def test_groups_go_elsewhere_and_where_they_may(seed: int) -> None:
    """Each at most once, and no mark is left behind."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    made = make_tables(terms, np.arange(terms.groups), NONE)
    now, proposal = (
        make_state(terms, made, rng.integers(0, terms.devices, terms.groups)),
        make_proposal(terms.groups, seed_state(seed)),
    )
    for _ in range(30):
        count = proposals.propose(made, now, proposal)
        vertex, target = proposal.vertex[:count], proposal.target[:count]
        assert len(set(vertex.tolist())) == count
        assert (now.place[vertex] != target).all()
        assert made.allowed[vertex, target].all()
        assert not proposal.mark.any()


@pytest.mark.parametrize("seed", range(8))
def test_stages_stay_in_order(seed: int) -> None:
    """Whatever is proposed, along all arcs."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    label, (source, target) = components(terms)[0], arcs(terms)
    made = make_tables(terms, label, rng.permutation(terms.devices))
    by_rank = np.argsort(made.rank)
    first = np.zeros(label.max() + 1, np.int64)
    first[label] = by_rank[draw_linear_order(terms, seed) * terms.devices // (draw_linear_order(terms, seed).max() + 1)]
    now, proposal = make_state(terms, made, first), make_proposal(len(first), seed_state(seed))
    for _ in range(60):
        count = proposals.propose(made, now, proposal)
        now.place[proposal.vertex[:count]] = proposal.target[:count]
        stage = made.rank[now.place[label]]
        assert (stage[source] <= stage[target]).all()


def test_sets_and_swaps_are_proposed() -> None:
    """Of twelve operators on a few devices: singles, pairs and larger sets."""
    terms = draw_terms(45)
    made = make_tables(terms, np.arange(terms.groups), NONE)
    now = make_state(terms, made, np.arange(terms.groups) % 2)
    proposal, found = make_proposal(terms.groups, seed_state(0)), set()
    for _ in range(300):
        count = proposals.propose(made, now, proposal)
        found.add((count, len(set(proposal.target[:count].tolist()))))
    assert {(1, 1), (2, 1), (2, 2)} <= found
