"""Loads of experts to balance, those of EPLB's README, and an oracle that tries all maps of small ones."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from tiger.expert_maps.replicas.loads import ExpertLoads, gpu_times


@pytest.fixture(scope="session")
def readme() -> Callable[..., ExpertLoads]:
    """Return the two layers of 12 experts, with 16 slots on 8 GPUs of 2 nodes; 4 groups are hierarchical, 3 global."""
    weight = np.array(
        [
            [90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
            [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27],
        ],
        np.float64,
    )
    return lambda groups=4, copies=1: ExpertLoads(weight, 16, groups, 2, 8, copies)


@pytest.fixture(scope="session")
def brute_force() -> Callable[[ExpertLoads], float]:
    """Return what finds the least largest load over speed of one layer by going through all maps of at most 7 slots."""

    def search(loads: ExpertLoads) -> float:
        least = np.inf
        real = loads.experts - (loads.room is not None)
        for more in np.ndindex(*(real,) * (int(loads.real[0].sum()) - real)):
            owners = [*range(real), *more]
            for order in set(permutations(owners)):
                row = np.full(loads.num_replicas, loads.blank)
                row[loads.real[0]] = order
                gpus = row.reshape(loads.num_gpus, -1)
                groups = gpus.reshape(loads.pools, -1) * loads.groups // loads.experts
                together = sum(len(np.unique(node)) for node in groups) == loads.groups
                if together and all(max(np.bincount(gpu)[:real]) <= loads.copies_per_gpu for gpu in gpus):
                    least = min(least, float(gpu_times(loads, row[None]).max()))
        return least

    return search
