"""Seeds derived from seeds."""

import numpy as np


def derive(seed: int, *path: int) -> int:
    """Return a seed in [0, 2**31) that depends on `seed` >= 0 and every number of the path, and on nothing else."""
    return int(np.random.SeedSequence([seed, *path]).generate_state(1)[0]) >> 1
