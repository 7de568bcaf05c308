"""Tests of what moves cost, where links are missing too."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import tiger
from tiger.rebalancing.line_costs import PipelineCosts
from tiger.rebalancing.moving import NEVER_S, list_moves, prices_s

Make = Callable[..., tiger.Rebalancer]


def test_moves_take_their_bytes_over_the_link(make: Make) -> None:
    """A gigabyte a second over 1 GB/s; nothing where a layer is, or comes from nowhere."""
    line = make(3, 3, bandwidth=1e9).line
    assert prices_s(line, (0, None, 2)).tolist() == [[0, 0, 1], [1, 0, 1], [1, 0, 0]]


def test_moves_without_a_link_go_over_others(make: Make) -> None:
    """From the first device to the third by way of the second; never where nothing leads."""
    line = make(3, 3, bandwidth=1e9).line
    link = np.array([[-1, 0, -1], [0, -1, 0], [-1, 0, -1]])
    chain = PipelineCosts(
        layers=line.layers,
        cluster=replace(line.cluster, link=link),
        devices=line.devices,
        schedule="1f1b",
        microbatches=4,
    )
    assert prices_s(chain, (0, 1, 2))[:, 0].tolist() == pytest.approx([0, 1, 2])
    assert prices_s(replace(chain, devices=(0,)), (0, 2, 2))[0, 2] == NEVER_S


def test_bug_layers_of_freed_devices_go_over_others(make: Make) -> None:
    """They seemed to take thirty million years from the third of a chain of devices to the first."""
    line = make(3, 3, bandwidth=1e9).line
    link = np.array([[-1, 0, -1], [0, -1, 0], [-1, 0, -1]])
    shorter = replace(line, cluster=replace(line.cluster, link=link), devices=(0, 1))
    assert prices_s(shorter, (0, 1, 2))[:, 2].tolist() == pytest.approx([2, 1])


def test_runs_of_layers_are_one_move(make: Make) -> None:
    """Two layers from the first device to the second, one from the third."""
    moves = list_moves(make(6, 3, bandwidth=1e9).line, (0, 0, 0, 1, 2, 2), (0, 1, 5, 6))
    assert [(move.first, move.last, move.source, move.target, move.seconds) for move in moves] == [
        ("l1", "l2", "d0", "d1", 2.0),
        ("l4", "l4", "d2", "d1", 1.0),
    ]
