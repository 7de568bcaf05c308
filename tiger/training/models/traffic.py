"""What ranks with the same layers send each other, beside the all-reduces of tensor-parallel ranks."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupTraffic:
    """Hold the bytes that L layers send among the ranks that hold them, before tensor-parallel ranks share them.

    Those of dense parameters, row 0, go among all ranks with the same layers, and those of experts, row 1, among each
    `expert`-th of them, as these hold the same experts. Once an iteration `scattered_bytes[2, L]` of gradients are
    reduce-scattered and `gathered_bytes[2, L]` of weights are all-gathered; with the third stage of ZeRO each pass
    gathers `pass_gathered_bytes[2, L]`, with the second and the third each backward pass scatters
    `pass_scattered_bytes[2, L]`. Groups of `context` consecutive ranks gather `context_bytes[L]` of keys and values in
    a forward pass and twice that in a backward pass, which sends their gradients round as well. Every rank sends
    `exchanged_bytes[L]` of tokens to the others of its group of `expert` consecutive ranks in each pass. Backward
    passes repeat the messages of a forward pass `repeats[L]` times, where layers are recomputed.
    """

    scattered_bytes: FloatArray
    gathered_bytes: FloatArray
    pass_scattered_bytes: FloatArray
    pass_gathered_bytes: FloatArray
    context_bytes: FloatArray
    exchanged_bytes: FloatArray
    repeats: FloatArray
    context: int = 1
    expert: int = 1

    @classmethod
    def of_gradients(cls, gradient_bytes: FloatArray) -> Self:
        """Return what replicas of layers send that all-reduce their gradients once an iteration, and no more."""
        nothing, both = np.zeros(len(gradient_bytes)), np.zeros((2, len(gradient_bytes)))
        dense = np.array([gradient_bytes, nothing])
        return cls(
            scattered_bytes=dense,
            gathered_bytes=dense,
            pass_scattered_bytes=both,
            pass_gathered_bytes=both,
            context_bytes=nothing,
            exchanged_bytes=nothing,
            repeats=nothing,
        )

    def without_groups(self) -> Self:
        """Return this without what is sent in passes."""
        both, nothing = np.zeros(self.scattered_bytes.shape), np.zeros(len(self.repeats))
        return replace(
            self,
            pass_scattered_bytes=both,
            pass_gathered_bytes=both,
            context_bytes=nothing,
            exchanged_bytes=nothing,
        )

    @property
    def in_passes(self) -> bool:
        """Return whether ranks with the same layers send anything during passes."""
        sent = (self.pass_scattered_bytes, self.pass_gathered_bytes, self.context_bytes, self.exchanged_bytes)
        return any(each.any() for each in sent)
