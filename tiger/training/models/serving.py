"""Transformers for inference: one pass, weights, and a cache of keys and values."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tiger.training.models.cache import cached_bytes
from tiger.training.models.layers import Layers
from tiger.training.models.shape import Shape
from tiger.training.models.state import NUMBER_BYTES

# A schedule counts two passes of a microbatch, forward and backward; inference has one.
PASSES = 2
# What a weight takes beside what it does in training: fp8 has no copy in bf16.
WEIGHT_SHARE = {"fp8": 0.5}


def serve(layers: Layers, shape: Shape, alike: Sequence[Shape], tensor: int) -> Layers:
    """Return the layers of a shape as they are served: no backward pass, no gradients, no optimizer, nothing in flight.

    Tokens are made one by one, so that the head works for every token as the other layers do; its ranks gather their
    shares of the numbers of the vocabulary. Nothing is all-reduced among replicas. Each layer of the decoder is
    like its own shape, and the caches of `tensor` ranks are counted together. O(L).
    """
    nothing = np.zeros(layers.size)
    decoder = np.array([kind == "layer" for kind in layers.kinds])
    head = np.array([kind == "head" for kind in layers.kinds])
    caches = {each: cached_bytes(each, tensor) for each in dict.fromkeys(alike)}
    cache = np.array([0.0, *(caches[each] for each in alike), 0.0])
    # To gather takes half as long as to all-reduce, and the bytes of a pass are counted in each of two.
    gathered = shape.tokens * shape.vocabulary * NUMBER_BYTES[shape.dtype] / 2 / PASSES
    reduced = np.where(decoder, layers.reduced_bytes / PASSES, layers.reduced_bytes)
    return replace(
        layers,
        backward_s=nothing,
        weight_s=nothing,
        parameter_bytes=nothing,
        gradient_bytes=nothing,
        state_bytes=layers.parameter_bytes * WEIGHT_SHARE.get(shape.dtype, 1.0) + cache,
        held_bytes=nothing,
        crossing_bytes=layers.crossing_bytes / PASSES,
        reduced_bytes=np.where(head, gathered, reduced),
        reductions=np.ones(layers.size),
        scattered=False,
        group_traffic=None,
    )
