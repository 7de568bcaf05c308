"""The cache of a model that serves: the keys and values of all tokens, or the latent vectors that they are made of."""

from tiger.training.models.shape import Shape
from tiger.training.models.state import NUMBER_BYTES


def token_bytes(shape: Shape) -> float:
    """Return the bytes that a token leaves in the cache of a layer of the decoder, as long as no window drops it."""
    return shape.cached * NUMBER_BYTES[shape.dtype]


def cached_bytes(shape: Shape, tensor: int = 1) -> float:
    """Return the bytes in the cache of a layer, of a shape whose layers are all alike, times the ranks that share it.

    A layer with a window keeps the tokens of its window alone. Of more ranks than heads with keys and values each holds
    one of these heads, and each rank holds all of a latent vector, of which every head makes its keys and values.
    """
    kept = min(shape.sequence, shape.window or shape.sequence)
    return shape.batch * kept * token_bytes(shape) * max(tensor / shape.cache_slices, 1.0)
