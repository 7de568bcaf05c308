"""Tests of linear orders."""

import numpy as np
import pytest

from tests.placement.operators.instances import cluster, draw_terms
from tests.placement.operators.plain import interpret
from tiger.model.arrays import BoolArray
from tiger.placement.operators.linear_orders import arcs, components, draw_linear_order
from tiger.placement.operators.terms import Terms
from tiger.training.models.operators import Operators


def graph(size: int, edges: list[tuple[int, int]], colour: list[int], backward: BoolArray) -> Terms:
    """Return the terms of a graph on one device."""
    operators = Operators(
        names=tuple(map(str, range(size))),
        seconds=np.ones(size),
        source=np.array([a for a, _ in edges], np.int64),
        target=np.array([b for _, b in edges], np.int64),
        colour=np.array(colour),
        backward=backward,
    )
    return Terms.from_operators(operators, cluster("a"), {})


@pytest.fixture
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch)


@pytest.mark.usefixtures("_plain")
@pytest.mark.parametrize("seed", range(6))
def test_arcs_go_forwards(seed: int) -> None:
    """Between groups that are on no cycle together; those share a position, others none."""
    terms = draw_terms(seed)
    position, part = draw_linear_order(terms, seed), components(terms)[0]
    source, target = arcs(terms)
    apart = part[source] != part[target]
    assert (position[source] < position[target])[apart].all()
    assert len(set(zip(position, part, strict=True))) == part.max() + 1 == len(np.unique(position))


def test_what_is_read_once_comes_right_before_its_reader() -> None:
    """Of 0 -> 1 -> 2 -> 3 -> 4 and a weight 5 -> 3, the weight comes before 2 or 3."""
    terms = graph(6, [(0, 1), (1, 2), (2, 3), (3, 4), (5, 3)], list(range(6)), np.zeros(6, np.bool_))
    for seed in range(5):
        assert draw_linear_order(terms, seed)[5] in (0, draw_linear_order(terms, seed)[3] - 1)


def test_seeds_give_other_orders() -> None:
    """Of four operators without edges; the same seed the same."""
    terms = graph(4, [], [0, 1, 2, 3], np.zeros(4, np.bool_))
    found = {tuple(draw_linear_order(terms, seed).tolist()) for seed in range(20)}
    assert len(found) > 5
    assert (draw_linear_order(terms, 1) == draw_linear_order(terms, 1)).all()


def test_the_backward_pass_goes_backwards() -> None:
    """The mirrored chain 0 -> 1 -> 1' -> 0' has one line, with two groups."""
    terms = graph(4, [(0, 1), (1, 2), (2, 3)], [0, 1, 1, 0], np.array([False, False, True, True]))
    assert draw_linear_order(terms, 0).tolist() == [0, 1]


def test_a_backward_pass_in_the_order_of_the_forward_one_goes_forwards() -> None:
    """With 0' -> 1' the groups would be on a cycle otherwise."""
    terms = graph(4, [(0, 1), (2, 3)], [0, 1, 0, 1], np.array([False, False, True, True]))
    assert draw_linear_order(terms, 0).tolist() == [0, 1]


def test_groups_on_a_cycle_share_a_position() -> None:
    """0 -> 1 -> 2 -> 3, where 0 and 2 are colocated, leaves two positions."""
    terms = graph(4, [(0, 1), (1, 2), (2, 3)], [0, 1, 0, 2], np.zeros(4, np.bool_))
    assert draw_linear_order(terms, 0).tolist() == [0, 0, 1]
