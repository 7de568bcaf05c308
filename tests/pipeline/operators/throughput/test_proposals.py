"""Tests of what annealing tries, as plain Python."""

import numpy as np
import pytest

from tests.pipeline.operators.instances import draw_terms
from tests.pipeline.operators.plain import interpret
from tiger.model.arrays import IntArray
from tiger.pipeline.operators.lines import arcs, components, draw_line
from tiger.pipeline.operators.throughput import proposals
from tiger.pipeline.operators.throughput.generator import seed_state
from tiger.pipeline.operators.throughput.proposals import proposal_arrays
from tiger.pipeline.operators.throughput.state import state_of
from tiger.pipeline.operators.throughput.tables import tables_of

NONE: IntArray = np.empty(0, np.int64)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch)


@pytest.mark.parametrize("seed", range(30))
def test_groups_go_elsewhere_and_where_they_may(seed: int) -> None:
    """Each at most once, and no mark is left behind."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    made = tables_of(terms, np.arange(terms.classes), NONE)
    now, room = (
        state_of(terms, made, rng.integers(0, terms.devices, terms.classes)),
        proposal_arrays(terms.classes, seed_state(seed)),
    )
    for _ in range(30):
        count = proposals.propose(made, now, room)
        group, target = room.group[:count], room.target[:count]
        assert len(set(group.tolist())) == count
        assert (now.place[group] != target).all()
        assert made.allowed[group, target].all()
        assert not room.mark.any()


@pytest.mark.parametrize("seed", range(30))
def test_stages_stay_in_order(seed: int) -> None:
    """Whatever is proposed, along all arcs."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    label, (source, target) = components(terms)[0], arcs(terms)
    made = tables_of(terms, label, rng.permutation(terms.devices))
    by_rank = np.argsort(made.rank)
    first = np.zeros(label.max() + 1, np.int64)
    first[label] = by_rank[draw_line(terms, seed) * terms.devices // (draw_line(terms, seed).max() + 1)]
    now, room = state_of(terms, made, first), proposal_arrays(len(first), seed_state(seed))
    for _ in range(60):
        count = proposals.propose(made, now, room)
        now.place[room.group[:count]] = room.target[:count]
        stage = made.rank[now.place[label]]
        assert (stage[source] <= stage[target]).all()


def test_sets_and_swaps_are_proposed() -> None:
    """Of twelve operators on a few devices: singles, pairs and larger sets."""
    terms = draw_terms(45)
    made = tables_of(terms, np.arange(terms.classes), NONE)
    now = state_of(terms, made, np.arange(terms.classes) % 2)
    room, found = proposal_arrays(terms.classes, seed_state(0)), set()
    for _ in range(300):
        count = proposals.propose(made, now, room)
        found.add((count, len(set(room.target[:count].tolist()))))
    assert {(1, 1), (2, 1), (2, 2)} <= found
