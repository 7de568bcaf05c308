"""Tests of patterns of ranks over machines."""

from dataclasses import replace

import numpy as np

from tiger.placement.ranks.machine_patterns import MachinePatterns
from tiger.placement.ranks.position_keys import exchange_labels


def test_machines_and_the_order_of_indices_make_no_difference(regular):
    """Two ranks on one machine of four are a pattern, whichever machine; three are another, and so is a column."""
    patterns = MachinePatterns.of(regular(4, 4))
    ranks = np.array([[0, 1, 4, 8], [13, 14, 8, 4], [0, 1, 2, 8], [0, 1, 4, 8]])[:, :, None]
    one, other, third, later = patterns.keys(ranks, np.array([0, 0, 0, 1])).tolist()
    turned = np.array([[[0, 4], [1, 8]], [[4, 0], [8, 1]]])
    assert one == other
    assert len({one, third, later}) == 3
    assert len(set(patterns.keys(turned, np.array([0, 0])).tolist())) == 1


def test_machines_without_ranks_stand_in_for_each_other(regular):
    """Beside ranks on machines 0 and 2, label 1 stands in for 3; of two indices with the same machines for one."""
    cluster = regular(4, 4)
    alike = MachinePatterns.of(cluster).compare(np.array([[[0, 1, 8], [2, 3, 9]]]), exchange_labels(cluster))
    assert alike.label.tolist() == [[0, 1, 2, 1]]
    assert alike.first.tolist() == [[0, 0, 2]]


def test_devices_of_two_kinds_differ(regular):
    """A machine of slower devices does not stand in for others; where links differ there are no patterns."""
    cluster = replace(regular(4, 4), speed=np.repeat([1.0, 1.0, 0.5, 1.0], 4))
    alike = MachinePatterns.of(cluster).compare(np.array([[[0, 1]]]), exchange_labels(cluster))
    assert alike.label.tolist() == [[0, 1, 2, 1]]


def test_there_are_no_patterns_where_links_differ(irregular):
    """Ranks on machines of unlike links cost what their links do."""
    assert MachinePatterns.of(irregular(1)) is None
