"""What a model that serves keeps of every sequence, and what of a layer is its experts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.models.parts import Part
from tiger.training.models.shape import Shape
from tiger.training.models.state import WEIGHT_BYTES
from tiger.training.models.weights import FORMATS, CacheType


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Served:
    """Hold how many `sequences` of so many `tokens` a model serves at once, and what of its L layers that is.

    Of the state of a layer `cache_bytes[L]` are the cache of all these sequences, and `expert_bytes[L]` the weights of
    experts; `expert_share[L]` is the part of its forward seconds that experts take. `cache_type` is that of the cache.
    """

    sequences: int
    tokens: int
    cache_bytes: FloatArray
    expert_bytes: FloatArray
    expert_share: FloatArray
    cache_type: CacheType

    def resize(self, sequences: int) -> Self:
        """Return this for another number of sequences."""
        cache = self.cache_bytes / self.sequences * sequences
        return replace(self, sequences=sequences, cache_bytes=cache)


def served_of(shape: Shape, parts: Sequence[Part], cache_bytes: FloatArray, expert_share: FloatArray) -> Served:
    """Return what layers of a shape keep, of which `cache_bytes[L]` are the cache, and the share of experts [L]."""
    matrices = np.array([part.expert_weights for part in parts], np.float64)
    number = WEIGHT_BYTES[shape.dtype] if shape.weights is None else FORMATS[shape.weights].number_bytes
    return Served(
        sequences=shape.batch,
        tokens=shape.sequence,
        cache_bytes=cache_bytes,
        expert_bytes=matrices * number,
        expert_share=expert_share,
        cache_type=shape.kv or ("fp16" if shape.dtype == "fp16" else "bf16"),
    )
