"""Cuts between blocks of consecutive ranks, by hand."""

import numpy as np
import scipy.sparse as sp

from tiger.mapping.cuts import RankBlocks

# Ranks 0 to 2 talk to each other, and 3 to 5 do; the cut stands inside the first three.
TALK = sp.csr_array(np.kron(np.eye(2), 1 - np.eye(3)))
APART = 1.0 - np.eye(2)


def pose(room: list[int], price: list[float]) -> RankBlocks:
    """Return two blocks of one and five ranks."""
    return RankBlocks(
        host=np.array([0, 1, 1, 1, 1, 1]),
        hosts=[0, 1],
        sent=TALK,
        got=sp.csr_array(TALK.T),
        work=np.ones(6),
        distance=APART,
        price=np.array(price),
        room=np.array(room),
    )


def test_as_many_ranks_change_sides_as_pay_together() -> None:
    """The first alone would gain nothing."""
    blocks = pose([6, 6], [0.0, 0.0])
    assert blocks.move_cuts()
    assert blocks.host.tolist() in ([0, 0, 0, 1, 1, 1], [1] * 6)
    assert not blocks.move_cuts()


def test_room_and_prices_of_hosts_count() -> None:
    """Two slots do not hold three ranks; a dear host is left."""
    full = pose([2, 5], [0.0, 0.0])
    assert not full.move_cuts()
    dear = pose([1, 6], [9.0, 0.0])
    assert dear.move_cuts()
    assert dear.host.tolist() == [1] * 6
