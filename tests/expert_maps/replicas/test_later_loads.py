"""Maps of loads that change later."""

import numpy as np

from benchmarks import eplb
from tiger.expert_maps.replicas.balance import balance
from tiger.expert_maps.replicas.loads import ExpertLoads


def test_busy_experts_keep_their_replicas() -> None:
    """Squares of replicas' loads, by which those of devices vary, are those of EPLB, and largest loads below its."""
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        chances = rng.permutation(np.arange(1, 65) ** -0.8)
        weight = rng.multinomial(65_536, chances / chances.sum())[None].astype(float)
        loads = ExpertLoads(weight, 80, 1, 1, 16)
        squares = []
        for slots in (balance(loads).phy2log, eplb.rebalance(weight, 80, 1, 1, 16)):
            number = np.bincount(slots[0])
            squares.append((weight[0] ** 2 / number).sum())
        ratios.append(squares[0] / squares[1])
        assert balance(loads).largest[0] < 1.006 * loads.mean[0]
    assert np.mean(ratios) < 1.01
