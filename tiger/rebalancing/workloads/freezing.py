"""Layer freezing."""

from dataclasses import dataclass, field

import numpy as np

from tiger.model.options import about
from tiger.rebalancing.workloads.trajectory import Trajectory, WorkloadCourse


@dataclass(frozen=True, kw_only=True)
class Freezing(WorkloadCourse):
    """Freeze layers from the first on, until a share `frozen` of them has no backward pass any more.

    Freezing begins after a share `begin` of the run and then goes on evenly. `forward` is what is left of the forward
    pass of a frozen layer: 1 where it is computed, about 0.02 where outputs of frozen layers are cached, as in
    Egeria, arXiv:2201.06227.
    """

    frozen: float = field(default=0.75, metadata=about("The share of layers frozen in the end.", ge=0, le=1))
    begin: float = field(default=0.2, metadata=about("The share of the run before the first.", ge=0, le=0.99))
    forward: float = field(default=1.0, metadata=about("What is left of a frozen forward pass.", ge=0, le=1))

    def trajectory(self, layers: int) -> Trajectory:
        """Return the factors of so many layers."""
        share = self.frozen * np.maximum(0, (self.progress - self.begin) / (1 - self.begin))
        frozen = np.arange(layers) < np.rint(share * layers)[:, None]
        return Trajectory(np.where(frozen, self.forward, 1.0), np.where(frozen, 0.0, 1.0))
