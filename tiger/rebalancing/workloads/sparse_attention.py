"""Dynamic sparse attention."""

from dataclasses import dataclass, field

import numpy as np

from tiger.model.options import about
from tiger.rebalancing.workloads.trajectory import Trajectory, WorkloadCourse

# Relative change of a layer's density from interval to interval, lognormal.
JITTER = 0.2
# No attention is sparser.
LEAST_DENSITY = 0.02


@dataclass(frozen=True, kw_only=True)
class SparseAttention(WorkloadCourse):
    """Compute few of the scores of attention, and in a block of layers, which wanders, all of them.

    `attention` is the share of a layer's time that scales with its density: drawn from `low` to `high` for each layer,
    20 % up or down from interval to interval, and 1 in the share `dense` of layers, a block that is an eighth of the
    layers further on in every quarter of the run. The setting is that of hash-based sparse attention, arXiv:2306.01160.
    """

    attention: float = field(default=0.95, metadata=about("The share of time that scales.", ge=0, le=1))
    low: float = field(default=0.03, metadata=about("The least density drawn.", ge=0, le=1))
    high: float = field(default=0.12, metadata=about("The largest density drawn.", ge=0, le=1))
    dense: float = field(default=0.1, metadata=about("The share of layers with full attention.", ge=0, le=1))
    seed: int = field(default=0, metadata=about("The seed of densities.", ge=0, le=2**32 - 1))

    def trajectory(self, layers: int) -> Trajectory:
        """Return the factors of so many layers."""
        rng = np.random.default_rng(self.seed)
        first = rng.uniform(min(self.low, self.high), max(self.low, self.high), layers)
        rows = []
        for number in range(self.intervals):
            density = np.clip(first * np.exp(rng.normal(0, JITTER, layers)), LEAST_DENSITY, 1)
            block = (4 * number // self.intervals) * (layers // 8)
            density[block : block + max(1, int(self.dense * layers))] = 1
            rows.append(1 - self.attention + self.attention * density)
        return Trajectory(np.array(rows), np.array(rows))
