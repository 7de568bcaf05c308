"""Tests of the annealing of multicasts, compiled and not."""

import numpy as np
import pytest

from tests.objectives.test_multicast import sets_of
from tiger.model.constraints import Terms, build_problem
from tiger.objectives.cost import violations
from tiger.objectives.multicast import multicast_of
from tiger.solvers.annealing import net_annealing
from tiger.solvers.annealing.net_annealing import NetAnnealing, NetParams
from tiger.topologies.spec import build


@pytest.mark.parametrize(
    "terms", [Terms(slots=4), Terms(slots=3), Terms(rule="one-to-one"), Terms(slots=4, pinned={"0": "1,1"})]
)
def test_it_keeps_the_rules_and_gains(terms: Terms) -> None:
    """Room or none, one task a node, and a pin; the same seed ends alike."""
    alone = terms.rule == "one-to-one"
    problem = build_problem(sets_of(24, 5, count=40), build("torus:5x5" if alone else "torus:2x4"), terms)
    start = np.arange(24) if alone else np.arange(24) // 3
    start[0] = problem.pins[0] if problem.pins[0] >= 0 else start[0]
    objective = multicast_of(problem)
    search = NetAnnealing(objective.arrays(), NetParams(moves=200))
    first, again = (search.search(problem, start, effort=1, seed=3, stop=bool).places for _ in range(2))
    assert violations(problem, first) == ()
    assert objective.value(first) < objective.value(start)
    assert first.tolist() == again.tolist()


def test_what_is_kept_while_moving_is_what_is_recomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's own account of the best mapping is its value, by compiled code and by Python."""
    problem = build_problem(sets_of(12, 8, count=20), build("tree:2x2@1,10"), Terms(slots=4))
    objective, found, compiled = multicast_of(problem), [], net_annealing.anneal_nets

    def keep(*arguments: object) -> float:
        """Run the kernel and note the cost that it returns."""
        found.append(compiled(*arguments))
        return found[-1]

    monkeypatch.setattr(net_annealing, "anneal_nets", keep)
    search = NetAnnealing(objective.arrays(), NetParams(moves=20))
    best = search.search(problem, np.arange(12) // 3, effort=1, seed=0, stop=bool).places
    assert objective.value(best) == pytest.approx(found[-1])


def test_it_stops_when_it_is_told_to() -> None:
    """The start comes back."""
    problem = build_problem(sets_of(12, 8), build("grid:4"), Terms(slots=3))
    search = NetAnnealing(multicast_of(problem).arrays())
    start = np.arange(12) // 3
    assert search.search(problem, start, effort=1, seed=0, stop=lambda: True).places.tolist() == start.tolist()
