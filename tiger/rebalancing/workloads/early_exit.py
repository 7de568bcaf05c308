"""Early exit."""

from dataclasses import dataclass, field

import numpy as np

from tiger.model.options import about
from tiger.rebalancing.workloads.trajectory import Trajectory, WorkloadCourse, find_level

# Tokens halve from layer to layer many times over at a rate of 5: all have left behind the first layers.
TOP_RATE = 5.0
# So many layers see all tokens.
FULL_LAYERS = 2


@dataclass(frozen=True, kw_only=True)
class EarlyExit(WorkloadCourse):
    """Let tokens leave a model early: of every layer's time what the tokens that are left take.

    They leave at an even rate behind the second layer, at which a mean share `survival` of tokens is in a layer, or as
    few as there can be where all are in the first two; over the first `ramp` of the run that share falls evenly from 1.
    The setting is that of CALM, arXiv:2207.07061.
    """

    survival: float = field(default=0.22, metadata=about("The mean share of tokens in a layer.", ge=0.01, le=1))
    ramp: float = field(default=0.3, metadata=about("The share of the run until then.", ge=0, le=1))

    def trajectory(self, layers: int) -> Trajectory:
        """Return the factors of so many layers."""
        rows = []
        depth = np.maximum(0, np.arange(layers) - (FULL_LAYERS - 1))
        for done in self.progress:
            mean = 1 - (1 - self.survival) * (min(1.0, done / self.ramp) if self.ramp else 1.0)

            def stay_more(rate: float, mean: float = mean) -> bool:
                return bool(np.exp(-rate * depth).mean() > mean)

            rows.append(np.exp(-find_level(0.0, TOP_RATE, stay_more) * depth))
        return Trajectory(np.array(rows), np.array(rows))
