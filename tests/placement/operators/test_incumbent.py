"""Tests of the best placement of operators so far."""

import numpy as np
import pytest

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import chain
from tiger.placement.operators.incumbent import PlacementIncumbent
from tiger.placement.operators.terms import Terms

# Two operators of 1 s and 4 bytes, the first sends 3 s, on two devices of 8 bytes.
TERMS = Terms.from_operators(chain([1.0] * 2, 3.0, [4.0] * 2), cluster("aa", 8.0), {})


def incumbent_of(terms: Terms = TERMS) -> PlacementIncumbent:
    """Return an incumbent that knows no placement."""
    return PlacementIncumbent(solution=None, terms=terms, stop=lambda: False)


def test_what_fits_and_is_better_is_taken() -> None:
    """Apart for 4 s with a line of stages, then together for 2 s without one; not nothing, and not apart again."""
    incumbent, apart = incumbent_of(), np.array([0, 1])
    assert incumbent.least_load_s == np.inf
    incumbent.offer(apart, (0, 1))
    assert (incumbent.value, incumbent.line) == (4.0, (0, 1))
    for place in (np.array([1, 1]), None, apart):
        incumbent.offer(place)
    assert (incumbent.value, incumbent.line, incumbent.least_load_s) == (2.0, (), 2.0)


def test_what_does_not_fit_is_not_taken() -> None:
    """Three operators of 4 bytes on one of two devices of 8."""
    incumbent = incumbent_of(Terms.from_operators(chain([1.0] * 3, 3.0, [4.0] * 3), cluster("aa", 8.0), {}))
    incumbent.offer(np.zeros(3, np.int64))
    assert incumbent.solution is None


@pytest.mark.parametrize(("objective", "value"), [("latency", 5.0), ("both", 5.0 / 2.5 + 4.0 / 2.0)])
def test_the_objective_may_turn(objective: str, value: float) -> None:
    """To the makespan, 1 + 3 + 1 s, or to its sum with the load in units of their bounds; what was proved is not."""
    incumbent = incumbent_of()
    incumbent.offer(np.array([0, 1]))
    incumbent.load_bound_s, incumbent.latency_bound_s, incumbent.proved = 2.0, 2.5, True
    incumbent.turn_to(objective)  # type: ignore[arg-type]  # one of its literals
    assert incumbent.value == pytest.approx(value)
    assert not incumbent.proved
