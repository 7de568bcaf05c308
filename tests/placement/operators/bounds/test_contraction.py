"""Tests of what is not separated below a target."""

import pytest

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import chain
from tiger.placement.operators.bounds.contraction import Contraction
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts
from tiger.placement.operators.terms import Terms

TERMS = Terms.from_operators(chain([1.0, 2.0, 3.0], 4.0, [1.0, 1.0, 1.0]), cluster("aa", 2.5), {})


@pytest.mark.parametrize(("target", "vertices"), [(8.0, [0, 1, 2]), (6.5, [0, 0, 0])])
def test_an_edge_is_kept_where_an_end_would_reach_the_target(target: float, vertices: list[int]) -> None:
    """Cutting behind op1 takes 3 + 4 s, cutting behind op0 2 + 4 s, but 5 + 4 s once op1 and op2 are one."""
    made = Contraction.of(TERMS, DeviceTypeCosts.of(TERMS), target)
    assert made.vertex.tolist() == vertices


def test_groups_that_fit_nowhere_make_a_target_impossible() -> None:
    """All three hold 3 bytes, and a device has 2.5."""
    costs = DeviceTypeCosts.of(TERMS)
    assert Contraction.of(TERMS, costs, 8.0).possible
    assert not Contraction.of(TERMS, costs, 6.5).possible


def test_a_cpu_pays_nothing() -> None:
    """Each end of an edge may be on the cpu, which does not pay, so that none is kept."""
    terms = Terms.from_operators(chain([1.0, 2.0, 3.0], 4.0, [1.0, 1.0, 1.0]), cluster("ac"), {})
    assert Contraction.of(terms, DeviceTypeCosts.of(terms), 6.5).vertex.tolist() == [0, 1, 2]
