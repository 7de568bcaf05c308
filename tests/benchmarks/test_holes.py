"""Tests of the peer for allocations with holes."""

from benchmarks.graphs import build_full_problem, stencil
from benchmarks.holes import assign_coordinates
from tiger.formats.patterns.spec import build
from tiger.objectives.cost import cost_of


def test_ranks_of_a_grid_go_to_the_nodes_of_their_coordinates() -> None:
    """Where none is away that is the best mapping of a halo; the hardware may have an extent twice as long."""
    whole = build_full_problem(build("halo:4x4").traffic, "torus:4x4")
    assert assign_coordinates(whole, (4, 4)).tolist() == list(range(16))
    longer = build_full_problem(stencil(0, 2, 2), "torus:2x4", slots=1)
    assert assign_coordinates(longer, (2, 2)).tolist() == [0, 2, 4, 6]
    assert cost_of(whole, assign_coordinates(whole, (4, 4))).total == whole.tasks.traffic.sum()
