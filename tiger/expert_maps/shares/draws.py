"""Batches that may come next, drawn around those that were given."""

from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawParams:
    """Set how many batches are drawn, and the least and the largest sigma of the lognormal factors of their loads.

    A map for a wide range of them serves loads that stay as well as those that drift. In `python -m benchmarks
    next_batch`, 256 experts of skew 0.8 without drift are at 1.012 times the mean, with 0.3 alone at 1.032, above the
    1.028 of EPLB; with 32 batches those that drift are at 1.155, and not at 1.133.
    """

    batches: int = 64
    least: float = 0.1
    largest: float = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Hold loads of batches [B, L, E] and how much each counts, [B], in all 1."""

    loads: FloatArray
    weights: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Return the mean loads, [L, E]."""
        return np.asarray(np.tensordot(self.weights, self.loads, axes=1))


def weigh_batches(loads: FloatArray, decay: float) -> Batches:
    """Return batches [B, L, E], the newest last, each of which counts `decay` times as much as the next."""
    weights = decay ** np.arange(len(loads), dtype=np.float64)[::-1]
    return Batches(loads, weights / weights.sum())


def draw_batches(given: Batches, params: DrawParams, seed: int, part: int) -> Batches:
    """Return batches that may come next: given ones, by their weights, whose loads are multiplied at random.

    Layers have as many tokens as before. Given batches show which loads rise together. `part` tells the batches that a
    map is made on from those that it is judged on.
    """
    rng = np.random.default_rng([seed, part])
    # As many of each given one as its weight says, and not as chance has it.
    after = np.cumsum(given.weights)
    chosen = np.searchsorted(after, (np.arange(params.batches) + rng.random()) / params.batches * after[-1])
    sigma = rng.permutation(np.linspace(params.least, params.largest, params.batches))[:, None, None]
    drawn = given.loads[chosen] * np.exp(sigma * rng.standard_normal((params.batches, *given.loads.shape[1:])))
    every, had = (some.sum(axis=2, keepdims=True) for some in (drawn, given.loads[chosen]))
    drawn *= np.divide(had, every, out=np.zeros_like(had), where=every > 0)
    return Batches(drawn, np.full(params.batches, 1 / params.batches))
