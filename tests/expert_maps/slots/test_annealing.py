"""Annealing of slots: changes are priced exactly, and rules are kept."""

import numpy as np
import pytest

from tiger.expert_maps.slots.annealing import anneal_slots, start_annealing
from tiger.expert_maps.slots.objective import count_moves, keeps_rules, price_slots
from tiger.expert_maps.slots.starts import order_slots


@pytest.mark.parametrize(
    ("size", "rules"),
    [
        ((3, 6, 8, 4), {}),
        ((3, 8, 8, 4), {"groups": 4}),
        ((2, 6, 12, 4), {"copies": 2}),
        ((4, 6, 8, 4), {"most": 3}),
        ((2, 4, 4, 2), {"in_use": 0}),
        ((3, 6, 8, 4), {"unlike": 1}),
        ((3, 8, 8, 4), {"unlike": 1, "groups": 4}),
        ((3, 6, 8, 4), {"room": 1, "in_use": 0}),
        ((3, 8, 8, 4), {"room": 1, "unlike": 1, "in_use": 0}),
    ],
)
def test_changes_are_priced_exactly(draw_problem, size, rules):
    """At every temperature, and the best map is no dearer than the start, with all rules kept."""
    problem = draw_problem(1, size, **rules)
    start = order_slots(problem.loads)
    state, before = start_annealing(problem, start), price_slots(problem, start).total
    for seed, temperature in enumerate((50.0, 5.0, 0.5)):
        anneal_slots(state, temperature, 500, seed)
        for slots, change in ((state.slots, state.total[0]), (state.best, state.total[1])):
            assert price_slots(problem, slots).total - before == pytest.approx(change, abs=1e-9)
        assert np.array_equal(state.slots == problem.loads.blank, ~problem.loads.real)
    assert state.total[1] < 0
    assert keeps_rules(problem.loads, state.slots)
    assert count_moves(problem, state.slots) == state.moves[0] <= (problem.most_moves or 99)
