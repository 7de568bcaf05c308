"""Tests of the keys of positions."""

import numpy as np

from tiger.placement.ranks.position_keys import PositionKeys, exchange_labels, mix_keys, row_batches


def test_equal_devices_of_a_machine_have_one_label(regular, irregular):
    """On equal machines a label is a machine; where rings are put in order every device has its own."""
    assert exchange_labels(regular(2, 4)).tolist() == [0] * 4 + [1] * 4
    assert exchange_labels(irregular(1)).tolist() == list(range(8))


def test_keys_are_equal_for_equal_positions_alone(regular):
    """Two devices of one machine that change places keep the keys, two of different machines do not."""
    keys = PositionKeys.of(regular(2, 4), (2, 1, 4))
    order = np.array([[0, 1, 2, 3, 4, 5, 6, 7], [3, 1, 2, 0, 5, 4, 7, 6], [4, 1, 2, 3, 0, 5, 6, 7]])
    base, same, other = keys.keys(order.reshape(3, 2, 1, 4)).tolist()
    assert base == same
    assert base[0] != other[0]
    assert base[1] != other[1]


def test_mixed_keys_depend_on_the_order():
    """Keys of a pair of positions are not those of the pair turned round."""
    one, other = np.array([5]), np.array([7])
    assert mix_keys([one, other]) != mix_keys([other, one])
    assert mix_keys(np.array([one, other])) == mix_keys([one, other])


def test_batches_hold_every_row_once():
    """Rows larger than a batch come one by one."""
    assert [part.stop for part in row_batches(3, 1 << 20)] == [1, 2, 3]
    assert np.concatenate([np.arange(50_000)[part] for part in row_batches(50_000, 2)]).tolist() == list(range(50_000))
