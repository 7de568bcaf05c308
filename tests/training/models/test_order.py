"""The order in which a pipeline runs the nodes of a graph."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.training.models.order import CycleError, topological_order


def order_of(rank, edges):
    """Return the order of nodes under a list of edges."""
    ends = np.array(edges, np.int64).reshape(-1, 2)
    return topological_order(rank, ends[:, 0], ends[:, 1])


def test_without_edges_ranks_decide():
    """The least rank comes first."""
    assert order_of([2, 0, 1], []) == [1, 2, 0]


def test_a_source_comes_before_its_target():
    """Node 0 has the least rank, but consumes node 2."""
    assert order_of([0, 1, 2], [(2, 0)]) == [1, 2, 0]


def test_an_edge_may_be_stated_twice():
    """It counts once."""
    assert order_of([0, 1], [(1, 0), (1, 0)]) == [1, 0]


@pytest.mark.parametrize("edges", [[(1, 1)], [(0, 1), (1, 2), (2, 1), (2, 3)], [(3, 1), (1, 2), (2, 3), (3, 0)]])
def test_a_cycle_is_named_by_a_node_on_it(edges):
    """Node 0 before the cycle, or behind it, is not blamed."""
    with pytest.raises(CycleError) as caught:
        order_of([0, 1, 2, 3], edges)
    assert caught.value.node in {1, 2, 3} & {node for edge in edges for node in edge}
    assert caught.value.node in {b for _, b in edges} & {a for a, _ in edges}


@given(rank=st.permutations(range(8)), pairs=st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7))))
def test_the_order_is_what_a_slow_search_finds(rank, pairs):
    """Of the nodes whose sources are all placed, the next is that of the least rank; edges go to larger numbers."""
    edges = [(a, b) for a, b in pairs if a < b]
    placed = []
    while len(placed) < 8:
        ready = [n for n in range(8) if n not in placed and all(a in placed for a, b in edges if b == n)]
        placed.append(min(ready, key=rank.__getitem__))
    assert order_of(rank, edges) == placed
