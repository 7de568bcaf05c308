"""Tests of hyperedges as values and of the graph that stands for them."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.model.hyperedges import Hyperedges
from tiger.model.tasks import TaskGraph


def hyperedges_of(*sets: list[int]) -> Hyperedges:
    """Return sets of volume 3 each."""
    return Hyperedges(
        starts=np.cumsum([0, *map(len, sets)]), pins=np.concatenate(sets), volumes=np.full(len(sets), 3.0)
    )


def test_small_sets_become_cliques() -> None:
    """Cutting one task off costs the volume."""
    assert hyperedges_of([0, 3, 1], [2], [3, 0]).expand(4).toarray().tolist() == [
        [0, 1.5, 0, 4.5],
        [0, 0, 0, 1.5],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
    ]


@pytest.mark.parametrize("size", [17, 18, 60])
def test_every_task_of_a_set_has_traffic_of_its_volume(size: int) -> None:
    """That is so for cliques and for circles, which have at most 8 edges a task."""
    graph = hyperedges_of(list(range(size))).expand(size)
    assert np.allclose((graph + graph.T).sum(axis=1), 3.0)
    assert graph.nnz <= 8 * size


@pytest.mark.parametrize(
    ("starts", "pins", "volumes"),
    [
        ([0, 2], [0, 1, 2], [1]),
        ([0, 2, 2], [0, 1], [1, 1]),
        ([0, 2], [1, 1], [1]),
        ([0, 2], [0, 1], [-1]),
        ([0, 2], [0, 5], [1]),
    ],
)
def test_malformed_sets_are_refused(starts: list[int], pins: list[int], volumes: list[float]) -> None:
    """Gaps, empty sets, repeats, negative volumes and tasks that are not there."""
    with pytest.raises(InputError, match="tasks/hyperedges"):
        TaskGraph.of_hyperedges(
            ("a", "b", "c"), Hyperedges(starts=np.array(starts), pins=np.array(pins), volumes=np.array(volumes))
        )
