"""Gradual magnitude pruning."""

from dataclasses import dataclass, field

import numpy as np
from scipy.special import erf

from tiger.model.options import about
from tiger.rebalancing.workloads.trajectory import Trajectory, WorkloadCourse, find_level

# Weights are normal; with the thirtieth part of the widest spread left, a threshold of so many is above all.
TOP_THRESHOLD = 40.0


@dataclass(frozen=True, kw_only=True)
class Pruning(WorkloadCourse):
    r"""Prune the smallest weights of a whole model, layer by layer unlike, until a share `sparsity` of them is gone.

    .. math:: s_t = s \, (1 - (1 - \min(1, x_t / r))^3)

    after a share x of the run, with `ramp` r: the cubic schedule of Zhu and Gupta, arXiv:1710.01878. Weights of layer l
    are normal with standard deviation exp(1.7 `spread` z), z rising from -1 to 1 over the layers, and one threshold
    holds for all. A share `sparse` of a layer's time scales with its density d as min(1, d / `useful`): kernels gain
    nothing above the density `useful`.
    """

    sparsity: float = field(default=0.9, metadata=about("The share of weights that is pruned in the end.", ge=0, le=1))
    ramp: float = field(default=0.5, metadata=about("The share of the run in which it is reached.", ge=0.01, le=1))
    spread: float = field(default=0.5, metadata=about("How unlike the layers are.", ge=0, le=2))
    sparse: float = field(default=0.95, metadata=about("The share of time that sparse kernels take.", ge=0, le=1))
    useful: float = field(default=0.25, metadata=about("The density below which they gain.", ge=0.01, le=1))

    def trajectory(self, layers: int) -> Trajectory:
        """Return the factors of so many layers."""
        scale = np.exp(1.7 * self.spread * np.linspace(-1, 1, layers))
        rows = []
        for done in np.minimum(1, self.progress / self.ramp):
            kept = 1 - self.sparsity * (1 - (1 - done) ** 3)

            def keeps_more(threshold: float, kept: float = kept) -> bool:
                return bool((1 - erf(threshold / scale / np.sqrt(2))).mean() > kept)

            density = 1 - erf(find_level(0.0, TOP_THRESHOLD * scale.max(), keeps_more) / scale / np.sqrt(2))
            rows.append(1 - self.sparse + self.sparse * np.minimum(1, density / self.useful))
        return Trajectory(np.array(rows), np.array(rows))
