"""OpenJij's simulated annealing as a sampler for TIGER: a worked example of bringing an Ising machine of your own.

    tiger.assign(tasks, "torus:4x4", solver=OpenJij())

Needs openjij. TIGER asks a sampler for what it lists in `parameters` and leaves out the rest.
"""

from collections.abc import Mapping
from typing import Any

import dimod
import numpy as np
import openjij


class OpenJij(dimod.Sampler):
    """Anneal with OpenJij, each read from a seed of its own.

    With a seed OpenJij starts every read of a call alike and so returns one read many times over; here every read is a
    call. Its inverse temperatures are TIGER's `beta_range`.
    """

    def __init__(self) -> None:
        self._sampler = openjij.SASampler()

    @property
    def parameters(self) -> dict[str, list[str]]:
        """Return the options that `sample` takes."""
        return {name: [] for name in ("num_reads", "num_sweeps", "seed", "beta_range")}

    @property
    def properties(self) -> dict[str, Any]:
        """Return nothing, as there is nothing to tell."""
        return {}

    def sample(
        self,
        bqm: dimod.BinaryQuadraticModel,
        *,
        num_reads: int = 10,
        num_sweeps: int = 1000,
        seed: int = 0,
        beta_range: tuple[float, float] | None = None,
        **options: Mapping[str, object],
    ) -> dimod.SampleSet:
        """Return `num_reads` samples of a model."""
        self.remove_unknown_kwargs(**options)
        low, high = beta_range or (None, None)
        seeds = np.random.default_rng(seed).integers(2**31, size=num_reads)
        reads = [
            self._sampler.sample(bqm, num_reads=1, num_sweeps=num_sweeps, beta_min=low, beta_max=high, seed=int(each))
            for each in seeds
        ]
        samples = np.vstack([read.record.sample for read in reads])
        return dimod.SampleSet.from_samples_bqm((samples, reads[0].variables), bqm)
