"""Transformers described by their shape: their layers."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray
from tiger.training.models.cache import cache_column
from tiger.training.models.decoding import time_decoder_step, time_embedding_step, time_head_step
from tiger.training.models.layer_shapes import shapes_of_layers
from tiger.training.models.layers import LayerKind, Layers
from tiger.training.models.limits import LAYER_LIMIT, check_size
from tiger.training.models.parts import Part, decoder_of, embedding_of, head_of, predictor_of, sent_bytes
from tiger.training.models.passes import PassTimes, time_decoder, time_embedding, time_head, time_predictor
from tiger.training.models.recompute import PartialRecompute
from tiger.training.models.served import served_of
from tiger.training.models.serving import MatrixBytes, StoredBytes, matrix_bytes, serve, weight_bytes
from tiger.training.models.setup import NO_SETUP, SHARDINGS, TrainingSetup, check_setup
from tiger.training.models.shape import FIELD, Shape
from tiger.training.models.state import NUMBER_BYTES, StateBytes, sharded_state_bytes, state_bytes_of
from tiger.training.models.traffic import GroupTraffic
from tiger.training.timings.operation_costs import USUAL_COSTS, OperationCosts
from tiger.training.timings.timed import SOURCES

# Layers that are on a device while one is at work, where they come from other ranks or the host: the next is fetched.
FETCHED = 2


def layers_of_shape(
    shape: Shape,
    max_layers: int = LAYER_LIMIT,
    setup: TrainingSetup = NO_SETUP,
    costs: OperationCosts = USUAL_COSTS,
    stored: StoredBytes | None = None,
) -> Layers:
    """Return the layers of a shape: embedding, decoder, those that predict further tokens, and head with norm and loss.

    What is held is that of one of the ranks of `setup`, times its tensor-parallel ranks: of context ranks each has its
    share of the tokens, of expert ranks its share of the experts. By default that is sequence parallelism, so that each
    of t tensor-parallel ranks has a t-th of it, and the state of Adam, of which nothing is shared out among replicas:
    18 bytes a parameter in bf16, 20 in fp16, 16 in fp32. A shape to `serve` does none of the training. O(L). Raises
    InputError for more than `max_layers`, and for a setup that does not go with the shape.

    `stored` (default: by the types that the shape states) are the bytes of weights that serve as a file has them.
    Times are those of `costs` on one of the ranks, times the tensor-parallel ranks, or by the `flops` that the shape
    states. Layers that predict further tokens are not computed again where the first layers of a stage are, as in
    Megatron-LM.

    Source: Korthikanti et al., MLSys 2023, arXiv:2205.05198.
    """
    check_size(f"{FIELD}/layers", shape.layers + shape.predictors + 2, max_layers)
    check_setup(setup, shape)
    shape = setup.adapt(shape)
    if setup.recompute_layers is not None:
        return _recompute_first(shape, setup, setup.recompute_layers, costs)
    alike = shapes_of_layers(shape)
    parts = _list_parts(shape, alike, setup)
    tokens, times = 1 / setup.context, _time_layers(shape, alike, parts, (setup, costs), stored)
    # Whole numbers may be beyond 2**63 here.
    parameters, experts = _column(parts, "parameters"), _column(parts, "expert_parameters") / setup.expert
    own = np.array([parameters - _column(parts, "expert_parameters"), experts])
    state = state_bytes_of(shape.dtype, setup)
    held = [sharded_state_bytes(state, setup, copies) for copies in (setup.copies, setup.expert_copies)]
    held_bytes = tokens * _column(parts, "held_bytes")
    working_bytes = tokens * _column(parts, "working_bytes")
    kinds = _list_kinds(shape.layers, shape.predictors)
    if setup.offload is not None:
        decoder = np.array([kind == "layer" for kind in kinds])
        times, working_bytes, held_bytes = _offload(times, decoder, (working_bytes, held_bytes), setup.offload)
    layers = Layers(
        names=module_names(shape.layers, shape.predictors),
        forward_s=times.forward_s,
        backward_s=times.backward_s,
        weight_s=np.minimum(times.weight_s, times.backward_s),
        parameter_bytes=own.sum(axis=0) * NUMBER_BYTES[shape.dtype],
        gradient_bytes=own.sum(axis=0) * state.gradient,
        state_bytes=held[0] * own[0] + held[1] * own[1],
        held_bytes=held_bytes,
        # Messages behind passes take as much of these as products lose meanwhile.
        crossing_bytes=tokens * (setup.overlap_pipeline or 1.0) * _count_crossing_bytes(shape),
        reduced_bytes=tokens * _column(parts, "reduced_bytes"),
        reductions=_column(parts, "reductions"),
        hiding_s=_hiding_s(kinds, times.products_s, setup),
        scattered=setup.sequence_parallel,
        kinds=kinds,
        tied=((0, len(parts) - 1),) if shape.shared else (),
        slices=math.gcd(shape.heads, *{each.width for each in alike}),
        working_bytes=working_bytes + _whole_bytes(shape, state, setup) * own.sum(axis=0),
        group_traffic=_traffic_of(shape, parts, own, state, setup),
        setup=setup,
        source_s=times.source_s,
    )
    if not shape.serve:
        return layers
    cache = cache_column(shape, setup.tensor)
    served = served_of(shape, parts, cache, times.expert_share)
    weights = weight_bytes(shape, parts)
    if stored is not None:
        weights = np.array(stored.weights, np.float64)
        served = replace(served, expert_bytes=np.array(stored.experts, np.float64))
    return replace(serve(layers, shape, weights + cache), served=served)


class _LayerTimes(NamedTuple):
    """Hold the seconds [L] of passes on a rank, times the tensor-parallel ranks, and those of both by source [4].

    `expert_share[L]` is the part of a forward pass that experts take.
    """

    forward_s: FloatArray
    backward_s: FloatArray
    weight_s: FloatArray
    products_s: FloatArray
    source_s: FloatArray
    expert_share: FloatArray


def _time_layers(
    shape: Shape,
    alike: Sequence[Shape],
    parts: Sequence[Part],
    on: tuple[TrainingSetup, OperationCosts],
    stored: StoredBytes | None,
) -> _LayerTimes:
    """Return the times of all layers by operations, or at the rate that a shape states."""
    setup = on[0]
    if shape.flops is not None:
        return _sustain(shape, parts, setup, shape.flops)
    every = _time_steps(shape, alike, on, stored) if shape.serve else _time_passes(shape, alike, on)

    def column(name: str) -> FloatArray:
        return np.array([setup.tensor * getattr(each, name) for each in every])

    counts = Counter(map(id, every))
    different = {id(each): each for each in every}
    source_s = [sum(counts[key] * each.from_source(source) for key, each in different.items()) for source in SOURCES]
    forward_s, experts_s = column("forward_s"), column("experts_s")
    return _LayerTimes(
        forward_s,
        column("backward_s"),
        column("weight_s"),
        column("products_s"),
        np.array(source_s),
        np.divide(experts_s, forward_s, out=np.zeros(len(every)), where=forward_s > 0),
    )


def _time_passes(shape: Shape, alike: Sequence[Shape], on: tuple[TrainingSetup, OperationCosts]) -> list[PassTimes]:
    """Return the times of every layer of a shape that learns."""
    decoders = {key: time_decoder(each, *on) for key, each in {id(each): each for each in alike}.items()}
    predictors = [time_predictor(alike[-1], *on)] * shape.predictors
    own = (decoders[id(each)] for each in alike)
    return [time_embedding(shape, *on), *own, *predictors, time_head(shape, *on)]


def _time_steps(
    shape: Shape,
    alike: Sequence[Shape],
    on: tuple[TrainingSetup, OperationCosts],
    stored: StoredBytes | None,
) -> list[PassTimes]:
    """Return the times of every layer of a shape that serves."""
    stated = matrix_bytes(shape)
    numbers: list[MatrixBytes | None] = [None if stated is None else stated[0]] * shape.layers
    head = None if stated is None else stated[1]
    if stored is not None:
        every = _list_matrix_bytes(_list_parts(shape, alike, NO_SETUP), stored)
        numbers, head = [*every[1:-1]], every[-1]
    kinds = [(id(each), number) for each, number in zip(alike, numbers, strict=True)]
    shapes = {id(each): each for each in alike}
    decoders = {kind: time_decoder_step(shapes[kind[0]], *on, kind[1]) for kind in dict.fromkeys(kinds)}
    own = (decoders[kind] for kind in kinds)
    return [time_embedding_step(shape, on[1]), *own, time_head_step(shape, *on, head)]


def _list_matrix_bytes(parts: Sequence[Part], stored: StoredBytes) -> list[MatrixBytes]:
    """Return the mean bytes of a number in each layer of a file, of experts and of all else, whoever holds copies."""
    experts, every = _column(parts, "expert_parameters"), _column(parts, "parameters")
    weights, own = np.array(stored.weights, np.float64), np.array(stored.experts, np.float64)
    shared = (weights - own) / np.maximum(every - experts, 1)
    return [MatrixBytes(*pair) for pair in zip(shared.tolist(), (own / np.maximum(experts, 1)).tolist(), strict=True)]


def _sustain(shape: Shape, parts: Sequence[Part], setup: TrainingSetup, rate: float) -> _LayerTimes:
    """Return the times of all layers at the FLOP per second that a device sustains."""
    # A model that serves makes one token of each sequence at a time.
    tokens = 1 / (shape.sequence if shape.serve else setup.context)
    weight_flops = tokens * _column(parts, "weight_flops")
    forward_flops = weight_flops + tokens * _column(parts, "other_flops")
    backward_flops = 2 * forward_flops + tokens * _column(parts, "repeated_flops")
    weight_s = weight_flops / rate
    # A token goes through some experts of each layer: a multiplication and an addition for every weight of theirs.
    experts = 2.0 * tokens * shape.tokens * shape.active / (shape.experts or 1) * _column(parts, "expert_weights")
    share = np.divide(experts, forward_flops, out=np.zeros(len(parts)), where=forward_flops > 0)
    return _LayerTimes(forward_flops / rate, backward_flops / rate, weight_s, weight_s, np.array([]), share)


def _offload(
    times: _LayerTimes, decoder: BoolArray, held: tuple[FloatArray, FloatArray], rate: float
) -> tuple[_LayerTimes, FloatArray, FloatArray]:
    """Return times, and the bytes at work and held, of layers of which those of the `decoder` go to the host."""
    working_bytes, held_bytes = held
    # Copies go both ways behind the work of other layers, and hold that up where they take longer.
    moved_s = np.where(decoder, held_bytes / rate, 0.0)
    slowed = times._replace(
        forward_s=np.maximum(times.forward_s, moved_s), backward_s=np.maximum(times.backward_s, moved_s)
    )
    return slowed, working_bytes + FETCHED * np.where(decoder, held_bytes, 0.0), np.where(decoder, 0.0, held_bytes)


def _recompute_first(shape: Shape, setup: TrainingSetup, first: int, costs: OperationCosts) -> Layers:
    """Return the layers of a shape of which the first of each stage alone are computed again."""
    again = layers_of_shape(shape, shape.layers + shape.predictors + 2, replace(setup, recompute_layers=None), costs)
    kept = layers_of_shape(shape, again.size, replace(setup, recompute="none", recompute_layers=None), costs)
    partial = PartialRecompute(
        first=first,
        counted=np.array([kind == "layer" for kind in again.kinds]),
        forward_s=kept.forward_s,
        backward_s=kept.backward_s,
        held_bytes=kept.held_bytes,
        working_bytes=kept.working_bytes,
    )
    return replace(again, setup=setup, partial=partial)


def _hiding_s(kinds: Sequence[LayerKind], products_s: FloatArray, setup: TrainingSetup) -> FloatArray:
    """Return the seconds of each layer's products behind which tensor-parallel messages go: none unless they overlap.

    Both are cut into t pieces, of which the first is computed before anything is sent, or the last after all is.
    Source: Wang et al., ASPLOS 2023, doi:10.1145/3567955.3567959.
    """
    decoder = np.array([kind != "embedding" and kind != "head" for kind in kinds])
    share = (setup.tensor - 1) / setup.tensor if setup.overlap_tensor is not None else 0.0
    return np.where(decoder, share * products_s, 0.0)


def _whole_bytes(shape: Shape, state: StateBytes, setup: TrainingSetup) -> float:
    """Return the bytes of a parameter that are whole while its layer is at work, of what ranks share out."""
    if SHARDINGS.index(setup.sharding) < SHARDINGS.index("zero-2"):
        return 0.0
    # Gradients of a layer are whole until they are scattered, and weights while they are at work.
    return state.gradient + FETCHED * NUMBER_BYTES[shape.dtype] * (setup.sharding == "zero-3")


def _list_parts(shape: Shape, alike: Sequence[Shape], setup: TrainingSetup) -> list[Part]:
    """Return the costs of every layer of a shape, where those of the decoder have shapes of their own."""
    # Equal shapes are one object, and slow to compare.
    decoders = {key: decoder_of(each, setup) for key, each in {id(each): each for each in alike}.items()}
    predictors = [predictor_of(alike[-1], setup)] * shape.predictors
    return [embedding_of(shape, setup), *(decoders[id(each)] for each in alike), *predictors, head_of(shape, setup)]


def _list_kinds(decoders: int, predictors: int) -> tuple[LayerKind, ...]:
    """Return the kinds of layers of a shape."""
    layer: LayerKind = "layer"
    predictor: LayerKind = "mtp"
    return ("embedding", *(layer,) * decoders, *(predictor,) * predictors, "head")


def _traffic_of(
    shape: Shape, parts: Sequence[Part], own: FloatArray, state: StateBytes, setup: TrainingSetup
) -> GroupTraffic | None:
    """Return what ranks with the same layers send each other, of `own[2, L]` parameters of dense layers and experts.

    None for an all-reduce of gradients alone.
    """
    if setup.sharding == "none" and setup.recompute != "full" and setup.context == setup.expert == 1:
        return None
    weights, gradients = own * NUMBER_BYTES[shape.dtype], own * state.gradient
    nothing, stage = np.zeros(own.shape), SHARDINGS.index(setup.sharding)
    tokens = 1 / setup.context
    return GroupTraffic(
        scattered_bytes=gradients if stage < SHARDINGS.index("zero-2") else nothing,
        # Without shares whole gradients come back, with the first two stages weights do.
        gathered_bytes=(gradients, weights, weights, nothing)[stage],
        pass_scattered_bytes=gradients if stage >= SHARDINGS.index("zero-2") else nothing,
        pass_gathered_bytes=weights if stage == SHARDINGS.index("zero-3") else nothing,
        context_bytes=_column(parts, "context_bytes") if setup.context > 1 else np.zeros(len(parts)),
        exchanged_bytes=tokens * _column(parts, "exchanged_bytes") if setup.expert > 1 else np.zeros(len(parts)),
        repeats=_column(parts, "repeated"),
        context=setup.context,
        expert=setup.expert,
    )


def _column(parts: Sequence[Part], name: str) -> FloatArray:
    """Return a number of every part; whole numbers may be beyond 2**63 here."""
    return np.array([getattr(part, name) for part in parts], np.float64)


def module_names(decoders: int, predictors: int = 0) -> tuple[str, ...]:
    """Return the names of layers of a shape: those of the modules of Megatron-LM."""
    further = (f"mtp.layers.{k}" for k in range(predictors))
    return ("embedding", *(f"decoder.layers.{k}" for k in range(decoders)), *further, "output_layer")


def is_made_of_shape(layers: Layers) -> bool:
    """Return whether layers have the names of those of a shape, so that no module has another."""
    predictors = layers.kinds.count("mtp")
    decoders = layers.size - predictors - 2
    usual = layers.kinds == _list_kinds(decoders, predictors)
    return layers.slices != 1 and usual and layers.modules == module_names(decoders, predictors)


def _count_crossing_bytes(shape: Shape) -> FloatArray:
    """Return the bytes before each layer, and after the last; predictions of further tokens go on with the others."""
    vectors = np.array([0, *[1] * (shape.layers + 1), *range(2, shape.predictors + 2), 0], np.float64)
    return vectors * float(sent_bytes(shape))
