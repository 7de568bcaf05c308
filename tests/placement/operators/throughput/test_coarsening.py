"""Tests of smaller terms that stand for larger ones."""

from dataclasses import replace

import numpy as np
import pytest

from tests.placement.operators.instances import cluster, draw_terms
from tests.placement.operators.lattices import interpret, lattice
from tiger.model.arrays import IntArray
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput import coarsening
from tiger.placement.operators.throughput.coarsening import blocks, cluster_labels, coarsen
from tiger.training.models.operators import Operators


def draw_labels(terms: Terms, seed: int) -> IntArray:
    """Draw the labels of groups."""
    found = np.random.default_rng(seed).integers(0, max(1, 2 * terms.groups // 3), terms.groups)
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def operators(sent: list[float], edges: list[tuple[int, int]], colour: list[int]) -> Terms:
    """Return operators of a second each on three devices."""
    size, ends = len(sent), np.array(edges, np.int64).reshape(-1, 2)
    made = Operators(
        names=tuple(f"op{k}" for k in range(size)),
        seconds=np.ones(size),
        sent_s=np.array(sent),
        source=ends[:, 0],
        target=ends[:, 1],
        colour=np.array(colour),
    )
    return Terms.from_operators(made, cluster("aaa"), {})


@pytest.mark.parametrize("seed", range(10))
def test_loads_are_those_of_the_placement_carried_down(seed: int) -> None:
    """Compute, communication and memory, with two curves and a cpu among the devices."""
    terms = draw_terms(seed)
    label = draw_labels(terms, seed)
    smaller = coarsen(terms, label)
    place = np.random.default_rng(seed).integers(0, terms.devices, smaller.groups)
    assert np.allclose(loads_s(smaller, place), loads_s(terms, place[label]), rtol=1e-12)
    assert np.allclose(held_bytes(smaller, place), held_bytes(terms, place[label]))


@pytest.mark.parametrize("seed", range(6))
def test_loads_without_a_link_stay_infinite(seed: int) -> None:
    """A pair of devices that loses its link, which the operators that send nothing notice as well."""
    terms = draw_terms(seed)
    link = terms.link.copy()
    link[0, -1] = link[-1, 0] = -1
    terms, label = replace(terms, link=link), draw_labels(terms, seed)
    smaller = coarsen(terms, label)
    place = np.random.default_rng(seed).integers(0, terms.devices, smaller.groups)
    assert np.allclose(loads_s(smaller, place), loads_s(terms, place[label]), rtol=1e-12)


def test_parallel_operators_become_one() -> None:
    """Two producers of one group for the same consumer send as one; a third that nobody else consumes joins them."""
    terms = operators([2.0, 3.0, 5.0, 0.0], [(0, 3), (1, 3), (2, 0)], [0, 0, 0, 1])
    smaller = coarsen(terms, np.array([0, 1]))
    assert smaller.operators == 2
    assert smaller.work[0].tolist() == [3.0, 1.0]
    assert smaller.send[0].tolist() == [5.0, 0.0]
    assert smaller.consumer.tolist() == [1]


def test_producers_for_different_consumers_stay_apart() -> None:
    """As one they would pay for both where one alone is received."""
    terms = operators([2.0, 3.0, 0.0, 0.0], [(0, 2), (1, 3)], [0, 0, 1, 2])
    assert coarsen(terms, np.array([0, 1, 2])).operators == 4


def test_producers_whose_links_rank_differently_stay_apart() -> None:
    """The longest of the sums is not the sum of the longest."""
    terms = operators([1.0, 1.0, 0.0], [(0, 2), (1, 2)], [0, 0, 1])
    terms = replace(terms, send=np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0]]))
    assert coarsen(terms, np.array([0, 1])).operators == 3


def test_passes_stay_apart() -> None:
    """A group keeps a forward and a backward operator, and the edges of each."""
    smaller = coarsen(lattice(2, 4, "aa"), np.repeat([0, 1, 0, 1], 2))
    assert sorted(smaller.backward[smaller.group_of == 0].tolist()) == [False, True]
    producer = np.repeat(np.arange(smaller.operators), np.diff(smaller.consumer_start))
    ends = list(zip(smaller.backward[producer].tolist(), smaller.backward[smaller.consumer].tolist(), strict=True))
    assert sorted(set(ends)) == [(False, False), (True, True)]


def test_a_joined_group_goes_where_all_its_groups_may() -> None:
    """One of them not to the first device, another not to the last."""
    terms = operators([0.0] * 3, [], [0, 1, 2])
    allowed = np.array([[False, True, True], [True, True, False], [True, True, True]])
    smaller = coarsen(replace(terms, allowed=allowed), np.array([0, 0, 1]))
    assert smaller.allowed.tolist() == [[False, True, False], [True, True, True]]


def test_groups_that_exchange_the_most_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a path the two heavy edges."""
    interpret(monkeypatch, coarsening)
    terms = operators([9.0, 1.0, 9.0, 0.0], [(0, 1), (1, 2), (2, 3)], [0, 1, 2, 3])
    label = cluster_labels(terms, np.zeros(4, np.int64), 2, 0)
    assert label[0] == label[1] != label[2] == label[3]


def test_groups_of_different_parts_are_not_joined() -> None:
    """Nor those that may go to different devices."""
    terms = operators([9.0, 9.0, 9.0, 0.0], [(0, 1), (1, 2), (2, 3)], [0, 1, 2, 3])
    allowed = np.ones((4, 3), np.bool_)
    allowed[3, 0] = False
    label = cluster_labels(replace(terms, allowed=allowed), np.array([0, 1, 1, 1]), 1, 0)
    assert label[1] == label[2]
    assert len({label[0], label[1], label[3]}) == 3


@pytest.mark.parametrize("size", [10, 20, 40])
def test_joined_groups_keep_to_their_share(size: int) -> None:
    """Of work and of memory."""
    terms = lattice(20, 20, "aa")
    label = cluster_labels(terms, np.zeros(400, np.int64), size, 1)
    assert np.bincount(label).max() <= 400 / size


def test_the_same_seed_joins_the_same_groups() -> None:
    """And another one others."""
    terms, part = lattice(10, 10, "aa"), np.zeros(100, np.int64)
    first, second, other = (cluster_labels(terms, part, 10, seed) for seed in (1, 1, 2))
    assert (first == second).all()
    assert (first != other).any()


def test_blocks_follow_the_line() -> None:
    """Each has an equal share, and those behind on the line have the larger labels."""
    terms = lattice(8, 8, "aa")
    position = draw_linear_order(terms, 0)
    label = blocks(terms, position, 16)
    assert np.bincount(label).tolist() == [4] * 16
    assert (np.diff(label[np.argsort(position)]) >= 0).all()
