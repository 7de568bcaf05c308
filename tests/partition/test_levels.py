"""Tests of windows of levels."""

import numpy as np

from tiger.feasibility.start import launch_order
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.topology import Topology
from tiger.partition.levels import LevelWindows


def example(ladder, **limits):
    """Return the 11-task example on a 2 x 2 grid: levels {0} {1,2,3} {4,6,7} {5} {8} {9} {10}."""
    names = tuple(f"{x},{y}" for x in range(2) for y in range(2))
    grid = Topology(names=names, metric=GridMetric((2, 2), (False, False)))
    return Problem(tasks=ladder, topology=grid, rule="levels", **limits)


def tasks_of(problem, **options):
    """Return the tasks of every block."""
    blocks = LevelWindows().split(problem, launch_order(problem), **({"max_size": 144, "seed": 0} | options))
    return [sorted(block.tasks.tolist()) for block in blocks]


def test_even_seeds_take_two_levels_at_a_time(ladder):
    """Tests the windows forward."""
    assert tasks_of(example(ladder)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [10]]


def test_odd_seeds_go_backward_and_overlap_the_others(ladder):
    """Tests windows half a run on, from the last to the first."""
    assert tasks_of(example(ladder), seed=1) == [[9, 10], [5, 8], [1, 2, 3, 4, 6, 7], [0]]


def test_pinned_tasks_lie_outside(ladder):
    """Tests that a level pinned whole leaves no block behind."""
    problem = example(ladder, pinned={"10": "0,0", "9": "0,1"})
    assert tasks_of(problem, seed=1) == [[5, 8], [1, 2, 3, 4, 6, 7], [0]]


def test_wide_windows_are_cut_by_tasks(ladder):
    """Tests that blocks obey their size with the nodes their tasks occupy."""
    assert max(map(len, tasks_of(example(ladder), max_size=9))) == 2


def test_a_block_may_use_nodes_beside_its_own(ladder):
    """Tests that a small window on a small machine gets all of it."""
    problem = example(ladder)
    first = next(iter(LevelWindows().split(problem, launch_order(problem), max_size=144, seed=0)))
    assert first.nodes.tolist() == np.arange(4).tolist()


def test_runs_can_be_longer(ladder):
    """Tests three levels at a time, shifted by one for odd seeds."""
    problem = example(ladder)
    runs = [
        [sorted(block.tasks.tolist()) for block in LevelWindows(span=3).split(problem, start, max_size=144, seed=seed)]
        for start in [launch_order(problem)]
        for seed in (0, 1)
    ]
    assert runs[0] == [[0, 1, 2, 3, 4, 6, 7], [5, 8, 9], [10]]
    assert runs[1] == [[8, 9, 10], [1, 2, 3, 4, 5, 6, 7], [0]]
