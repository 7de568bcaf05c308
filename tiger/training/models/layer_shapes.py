"""The shape of each layer of a decoder whose layers differ: some have experts or a window, others do not."""

from dataclasses import replace
from typing import NamedTuple

from tiger.training.models.shape import Shape


class LayerTraits(NamedTuple):
    """Say whether a layer is a dense one of a mixture, and whether it sees all tokens where others have a window."""

    dense: bool
    full: bool


def shapes_of_layers(shape: Shape) -> list[Shape]:
    """Return for each layer of the decoder a shape whose layers are all like it; equal ones are one object. O(L)."""
    if shape.full_step is None and (shape.experts is None or (not shape.dense_layers and shape.expert_step == 1)):
        return [_make_alike(shape, _traits_of(shape, 0))] * shape.layers
    every = [_traits_of(shape, k) for k in range(shape.layers)]
    made = {traits: _make_alike(shape, traits) for traits in set(every)}
    return [made[traits] for traits in every]


def _traits_of(shape: Shape, k: int) -> LayerTraits:
    """Return the traits of layer k."""
    dense = shape.experts is not None and (k < shape.dense_layers or (k + 1) % shape.expert_step > 0)
    return LayerTraits(dense, full=shape.full_step is not None and (k + 1) % shape.full_step == 0)


def _make_alike(shape: Shape, traits: LayerTraits) -> Shape:
    """Return the shape whose layers all have some traits."""
    window = None if traits.full else shape.window
    if not traits.dense:
        return replace(shape, window=window, full_step=None, dense_layers=0, dense_ffn=None, expert_step=1)
    return replace(
        shape,
        ffn=shape.dense_ffn or shape.width,
        experts=None,
        top_k=None,
        window=window,
        full_step=None,
        dense_layers=0,
        dense_ffn=None,
        expert_step=1,
        shared_experts=0,
    )
