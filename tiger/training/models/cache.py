"""The cache of a model that serves: the keys and values of all tokens, or the latent vectors that they are made of."""

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.models.layer_shapes import shapes_of_layers
from tiger.training.models.shape import Shape
from tiger.training.models.state import NUMBER_BYTES
from tiger.training.models.weights import CACHE_BYTES


def token_bytes(shape: Shape) -> float:
    """Return the bytes that a token leaves in the cache of a layer of the decoder, as long as no window drops it."""
    return shape.cache_numbers * (NUMBER_BYTES[shape.dtype] if shape.kv is None else CACHE_BYTES[shape.kv])


def cached_bytes(shape: Shape, tensor: int = 1) -> float:
    """Return the bytes in the cache of a layer, of a shape whose layers are all alike, times the ranks that share it.

    A layer with a window keeps the tokens of its window alone. Of more ranks than heads with keys and values each holds
    one of these heads, and each rank holds all of a latent vector, of which every head makes its keys and values.
    """
    kept = min(shape.sequence, shape.window or shape.sequence)
    return shape.batch * kept * token_bytes(shape) * max(tensor / shape.cache_slices, 1.0)


def cache_column(shape: Shape, tensor: int = 1) -> FloatArray:
    """Return what `cached_bytes` are of embedding, decoder layers and head: [L + 2]."""
    alike = shapes_of_layers(shape)
    caches = {each: cached_bytes(each, tensor) for each in dict.fromkeys(alike)}
    return np.array([0.0, *(caches[each] for each in alike), 0.0])
