"""Transformers described by their shape: their layers."""

import math

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.models.layers import LayerKind, Layers
from tiger.training.models.limits import LAYER_LIMIT, check_size
from tiger.training.models.parts import NUMBER_BYTES, decoder_of, embedding_of, head_of, sent_bytes
from tiger.training.models.serving import serve
from tiger.training.models.shape import FIELD, Shape

# Weights, gradients and Adam's fp32 copies as Megatron Core adds them up: gradients are fp32 with bf16, both with fp16.
STATE_BYTES = {"bf16": 18, "fp16": 20, "fp32": 16}


def layers_of_shape(shape: Shape, max_layers: int = LAYER_LIMIT) -> Layers:
    """Return the L + 2 layers of a shape: the embedding, those of the decoder, and the head with last norm and loss.

    What is held for a microbatch assumes sequence parallelism, so that each of t tensor-parallel ranks has a t-th of
    it. The state is that of Adam, of which nothing is shared out among replicas: 18 bytes a parameter in bf16, 20 in
    fp16, 16 in fp32. Experts stay with their layer. A shape to `serve` does none of the training. O(L). Raises
    InputError for more than `max_layers`.

    Source: Korthikanti et al., MLSys 2023, arXiv:2205.05198.
    """
    check_size(f"{FIELD}/layers", shape.layers + 2, max_layers)
    parts = [embedding_of(shape), *[decoder_of(shape)] * shape.layers, head_of(shape)]
    weight_flops = np.array([part.weight_flops for part in parts])
    forward_flops = weight_flops + np.array([part.other_flops for part in parts])
    # Whole numbers may be beyond 2**63 here.
    parameters = np.array([part.parameters for part in parts], np.float64)
    layer: LayerKind = "layer"
    layers = Layers(
        names=module_names(shape.layers),
        forward_s=forward_flops / shape.flops_per_s,
        backward_s=2 * forward_flops / shape.flops_per_s,
        weight_s=weight_flops / shape.flops_per_s,
        parameter_bytes=parameters * NUMBER_BYTES[shape.dtype],
        state_bytes=parameters * STATE_BYTES[shape.dtype],
        held_bytes=np.array([part.held_bytes for part in parts], np.float64),
        crossing_bytes=_count_crossing_bytes(shape),
        reduced_bytes=np.array([part.reduced_bytes for part in parts]),
        reductions=np.array([part.reductions for part in parts], np.float64),
        kinds=("embedding", *(layer,) * shape.layers, "head"),
        tied=((0, shape.layers + 1),) if shape.shared else (),
        slices=math.gcd(shape.heads, shape.width),
    )
    return serve(layers, shape) if shape.serve else layers


def module_names(decoders: int) -> tuple[str, ...]:
    """Return the names of layers of a shape: those of the modules of Megatron-LM."""
    return ("embedding", *(f"decoder.layers.{k}" for k in range(decoders)), "output_layer")


def is_made_of_shape(layers: Layers) -> bool:
    """Return whether layers have the names of those of a shape, so that no module has another."""
    kinds = ("embedding", *("layer",) * (layers.size - 2), "head")
    return layers.slices != 1 and layers.kinds == kinds and layers.modules == module_names(layers.size - 2)


def _count_crossing_bytes(shape: Shape) -> FloatArray:
    """Return the bytes before each layer, and after the last."""
    crossing = np.full(shape.layers + 3, float(sent_bytes(shape)))
    crossing[[0, -1]] = 0.0
    return crossing
