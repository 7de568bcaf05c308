"""Transformers for inference: one pass, weights, and a cache of keys and values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.models.layers import Layers
from tiger.training.models.parts import Part
from tiger.training.models.shape import Shape
from tiger.training.models.state import NUMBER_BYTES, WEIGHT_BYTES
from tiger.training.models.weights import FORMATS

# A schedule counts two passes of a microbatch, forward and backward; inference has one.
PASSES = 2


class StoredBytes(NamedTuple):
    """Hold the bytes of the weights of L layers as a file has them, and the part of them that experts take."""

    weights: Sequence[int]
    experts: Sequence[int]


class MatrixBytes(NamedTuple):
    """Hold the bytes of a number in matrices that all tokens go through, and in those of experts."""

    shared: float
    experts: float


def matrix_bytes(shape: Shape) -> tuple[MatrixBytes, MatrixBytes] | None:
    """Return what matrices of the decoder and of the head are stored in, None where it is what they are computed in."""
    if shape.weights is None:
        return None
    number, covered = FORMATS[shape.weights]
    usual = NUMBER_BYTES[shape.dtype]
    head = number if covered == "all" else usual
    shared = usual if covered == "experts" and shape.experts else number
    return MatrixBytes(shared, number), MatrixBytes(head, head)


def weight_bytes(shape: Shape, parts: Sequence[Part]) -> FloatArray:
    """Return the bytes of the weights of every layer of a shape, in the type that it serves with."""
    usual = WEIGHT_BYTES[shape.dtype]
    if shape.weights is None:
        return np.array([part.parameters * usual for part in parts], np.float64)
    number, covered = FORMATS[shape.weights]
    usual = NUMBER_BYTES[shape.dtype]
    names = {"all": "parameters", "products": "product_weights", "experts": "expert_weights"}
    name = names[covered if shape.experts or covered == "all" else "products"]
    few = [getattr(part, name) for part in parts]
    every = [part.parameters for part in parts]
    return np.array([number * some + usual * (count - some) for some, count in zip(few, every, strict=True)])


def serve(layers: Layers, shape: Shape, state_bytes: FloatArray) -> Layers:
    """Return the layers of a shape as they are served: no backward pass, no gradients, no optimizer, nothing in flight.

    Messages are those of a step, which makes one token of each sequence; the ranks of the head gather their shares of
    the numbers of the vocabulary. Nothing is all-reduced among replicas. `state_bytes[L]` are weights and
    cache. O(L).
    """
    nothing = np.zeros(layers.size)
    decoder = np.array([kind == "layer" for kind in layers.kinds])
    head = np.array([kind == "head" for kind in layers.kinds])
    # To gather takes half as long as to all-reduce, and the bytes of a pass are counted in each of two.
    gathered = shape.batch * shape.vocabulary * NUMBER_BYTES[shape.dtype] / 2 / PASSES
    reduced = np.where(decoder, layers.reduced_bytes / PASSES, layers.reduced_bytes) / shape.sequence
    return replace(
        layers,
        backward_s=nothing,
        weight_s=nothing,
        parameter_bytes=nothing,
        gradient_bytes=nothing,
        state_bytes=state_bytes,
        held_bytes=nothing,
        crossing_bytes=layers.crossing_bytes / PASSES / shape.sequence,
        reduced_bytes=np.where(head, gathered, reduced),
        reductions=np.ones(layers.size),
        scattered=False,
        group_traffic=None,
    )


def forward_alone(layers: Layers) -> Layers:
    """Return layers with their forward pass and its messages alone.

    Of a model that serves both passes of a schedule have a part of the messages, which go together here. O(L).
    """
    nothing = np.zeros(layers.size)
    alone = replace(layers, backward_s=nothing, weight_s=nothing)
    if layers.served is None:
        return alone
    return replace(
        alone,
        crossing_bytes=layers.crossing_bytes * PASSES,
        reduced_bytes=layers.reduced_bytes * PASSES,
        reductions=layers.reductions * PASSES,
    )


def with_sequences(layers: Layers, sequences: int) -> Layers:
    """Return layers with the cache of another number of sequences; times stay those of the model as stated."""
    served = layers.served
    if served is None:
        return layers
    other = served.resize(sequences)
    return replace(layers, state_bytes=layers.state_bytes - served.cache_bytes + other.cache_bytes, served=other)
