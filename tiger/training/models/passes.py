"""The seconds of passes of a layer on one rank, operation by operation, for a microbatch of a transformer.

Tensor-parallel ranks cut the products of attention and of the blocks, context ranks the tokens. Between products layers
move numbers, as memory is read and written by norms, residuals, activation functions and rotations; which those are is
in `moved_bytes`, one kernel for each, as Megatron-LM fuses them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from tiger.training.models.parts import count_key_copies, count_matrices
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.state import NUMBER_BYTES, USUAL_GRADIENTS
from tiger.training.timings.operation_costs import OperationCosts
from tiger.training.timings.operations import Attention, ExpertBlocks, Product
from tiger.training.timings.roofline import LAUNCH_S, count_seen
from tiger.training.timings.timed import SOURCES, Source, Timed

# Kernels of a forward pass of a layer beside its products: two norms, two residuals, an activation and a rotation.
KERNELS = 6
# Numbers that these read and write of a token's hidden vector: two norms 2 each; two residuals 3 each.
HIDDEN_MOVES = 10
# A backward pass moves twice that, as gradients go beside what was held.
BACKWARD_MOVES = 2
# Bytes of a logit: converted to fp32, its maximum and its distance from it, exponentials, their sum, the quotient; then
# back: the gradient, scaled, converted.
LOSS_BYTES, LOSS_BACKWARD_BYTES = 38, 22
# Bytes of a score of full attention beside its two products: softmax and dropout, with a byte of mask; then back.
SCORE_MOVES, SCORE_BACKWARD_MOVES, MASKED = 4, 6, 5
# Of the bandwidth that copies reach, what softmax and dropout of scores do: 1.3 ms a forward pass of attention in a
# layer of the 22B model of Korthikanti et al., arXiv:2205.05198.
SCORE_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class PassTimes:
    """Hold the seconds of a forward and a backward pass on one rank, by source of `SOURCES`.

    Of the backward pass `weight_s` makes gradients of weights; of the forward pass `products_s` are the seconds of
    products, and `experts_s` those of experts.
    """

    forward: tuple[Timed, ...]
    backward: tuple[Timed, ...]
    weight_s: float
    products_s: float
    experts_s: float = 0.0

    @property
    def forward_s(self) -> float:
        """Return the seconds of a forward pass."""
        return sum(each.seconds for each in self.forward)

    @property
    def backward_s(self) -> float:
        """Return the seconds of a backward pass."""
        return sum(each.seconds for each in self.backward)

    def repeat(self, forward: Iterable[Timed]) -> Self:
        """Return these with some of a forward pass computed again in the backward pass."""
        return type(self)(self.forward, (*forward, *self.backward), self.weight_s, self.products_s)

    def from_source(self, source: Source) -> float:
        """Return the seconds of both passes that are from a source."""
        return sum(each.seconds for each in (*self.forward, *self.backward) if each.source == source)


def sum_sources(times: Iterable[PassTimes]) -> tuple[float, ...]:
    """Return the seconds of both passes by source of `SOURCES`, of all layers of some times."""
    every = list(times)
    return tuple(sum(each.from_source(source) for each in every) for source in SOURCES)


def time_embedding(shape: Shape, setup: TrainingSetup, costs: OperationCosts) -> PassTimes:
    """Return the times of looking tokens up: a vector is read and written, and its gradient added up."""
    moved = 2.0 * NUMBER_BYTES[shape.dtype] * _tokens(shape, setup) * shape.hidden / _holders(setup)
    forward = move(costs, moved)
    sums = _sum_gradients(shape, setup, costs, cut(shape.vocabulary, setup) * shape.hidden)
    return PassTimes((forward,), (forward, sums), sums.seconds, 0.0)


def time_decoder(shape: Shape, setup: TrainingSetup, costs: OperationCosts) -> PassTimes:
    """Return the times of attention and the feed-forward blocks behind it, with what is computed again."""
    products, weights = list_products(shape, setup)
    ahead, back, weight_s = _time_products(products, costs)
    core, core_back = _time_attention(shape, setup, costs)
    moved = moved_bytes(shape, setup)
    moves = move(costs, moved, KERNELS)
    moves_back = move(costs, BACKWARD_MOVES * moved, BACKWARD_MOVES * KERNELS)
    sums = _sum_gradients(shape, setup, costs, weights)
    forward = (*ahead, *core, moves)
    times = PassTimes(
        forward,
        (*back, *core_back, moves_back, sums),
        weight_s + sums.seconds,
        sum(each.seconds for each in ahead),
    )
    match setup.recompute:
        case "full":
            return times.repeat(forward)
        case "selective" if shape.attention == "full":
            return times.repeat(core)
        case _:
            return times


def time_predictor(shape: Shape, setup: TrainingSetup, costs: OperationCosts) -> PassTimes:
    """Return the times of a decoder layer behind a projection of two vectors, which each have a norm.

    One of these is the embedding of a token, which is looked up.
    """
    decoder, embedding = time_decoder(shape, setup, costs), time_embedding(shape, setup, costs)
    tokens = _tokens(shape, setup)
    projection = Product(m=tokens, n=cut(shape.hidden, setup), k=2 * shape.hidden, dtype=shape.dtype)
    ahead, back, weight_s = _time_products((projection,), costs)
    moved = 4.0 * NUMBER_BYTES[shape.dtype] * tokens * shape.hidden / _holders(setup)
    moves, moves_back = move(costs, moved, 2), move(costs, BACKWARD_MOVES * moved, BACKWARD_MOVES * 2)
    sums = _sum_gradients(shape, setup, costs, float(projection.n * projection.k))
    again = (*ahead, moves) if setup.recompute == "full" else ()
    return PassTimes(
        (*decoder.forward, *embedding.forward, *ahead, moves),
        (*decoder.backward, *embedding.backward, *back, moves_back, sums, *again),
        decoder.weight_s + embedding.weight_s + weight_s + sums.seconds,
        decoder.products_s + sum(each.seconds for each in ahead),
    )


def time_head(shape: Shape, setup: TrainingSetup, costs: OperationCosts) -> PassTimes:
    """Return the times of the last norm, the product with the matrix of the vocabulary, and the loss over it."""
    tokens, words = (1 + shape.predictors) * _tokens(shape, setup), cut(shape.vocabulary, setup)
    # The head is computed in 16 bits where layers are in 8.
    dtype = "bf16" if shape.dtype == "fp8" else shape.dtype
    ahead, back, weight_s = _time_products((Product(m=tokens, n=words, k=shape.hidden, dtype=dtype),), costs)
    logits = float(tokens * words)
    sums = _sum_gradients(shape, setup, costs, words * shape.hidden)
    forward = (*ahead, move(costs, LOSS_BYTES * logits, 4))
    backward = (*back, move(costs, LOSS_BACKWARD_BYTES * logits, 4), sums)
    return PassTimes(forward, backward, weight_s + sums.seconds, 0.0)


def list_products(shape: Shape, setup: TrainingSetup) -> tuple[list[Product | ExpertBlocks], float]:
    """Return the products of a layer of the decoder on a rank, and how many weights it holds there."""
    tokens, hidden, dtype = _tokens(shape, setup), shape.hidden, shape.dtype

    def multiply(n: int, k: int) -> Product:
        return Product(m=tokens, n=n, k=k, dtype=dtype)

    query, width = cut(shape.query, setup), cut(shape.attention_width, setup)
    if shape.kv_lora_rank is None:
        copies = count_key_copies(shape, setup)
        keys = cut(round(copies * (shape.key + shape.value)), setup)
        attention = [multiply(query + keys, hidden)]
    else:
        latent = shape.kv_lora_rank + (shape.rope_head_dim or 0) + (shape.q_lora_rank or 0)
        grown = cut(shape.heads * shape.head + shape.value, setup)
        attention = [
            multiply(latent, hidden),
            multiply(query, shape.q_lora_rank or hidden),
            multiply(grown, shape.kv_lora_rank),
        ]
    attention.append(multiply(hidden, width))
    blocks, wide = count_matrices(shape), cut(shape.width, setup)
    every: list[Product | ExpertBlocks] = [*attention]
    weights = float(sum(each.n * each.k for each in attention))
    for _ in range(shape.shared_experts if shape.experts else 1):
        every += [multiply((blocks - 1) * wide, hidden), multiply(hidden, wide)]
        weights += blocks * wide * hidden
    if shape.experts:
        own = max(shape.experts // setup.expert, 1)
        every += [multiply(shape.experts, hidden)]
        every += [
            ExpertBlocks(
                tokens=tokens * setup.expert,
                hidden=hidden,
                width=wide,
                active=shape.active,
                experts=own,
                routed=shape.experts,
                dtype=dtype,
                matrices=blocks,
            )
        ]
        weights += own * blocks * wide * hidden + shape.experts * hidden
    return every, weights


def _time_products(
    products: Iterable[Product | ExpertBlocks], costs: OperationCosts
) -> tuple[list[Timed], list[Timed], float]:
    """Return the times of products forward and backward, and the seconds of those for gradients of weights."""
    ahead, back, weight_s = [], [], 0.0
    for product in products:
        inputs, weights = costs.backward(product)
        ahead.append(costs.forward(product))
        back += [inputs, weights]
        weight_s += weights.seconds
    return ahead, back, weight_s


def _time_attention(
    shape: Shape, setup: TrainingSetup, costs: OperationCosts
) -> tuple[tuple[Timed, ...], tuple[Timed, ...]]:
    """Return the times of attention between its products with weights, forward and backward."""
    heads = cut(shape.heads, setup)
    head, value = shape.head + (shape.rope_head_dim or 0), shape.v_head_dim or shape.head
    if shape.attention == "flash":
        # Context ranks pass keys and values round: each meets as many blocks of tokens as there are ranks, or those
        # that a window reaches back to.
        attention = Attention(
            sequences=shape.batch,
            tokens=-(-shape.sequence // setup.context),
            heads=heads,
            kv_heads=max(cut(shape.kv_heads or shape.heads, setup), 1),
            head=head,
            value_head=value,
            dtype="bf16" if shape.dtype == "fp8" else shape.dtype,
            window=shape.window,
        )
        ahead, (back, _) = costs.forward(attention), costs.backward(attention)
        blocks = count_seen(replace(attention, tokens=shape.sequence)) / count_seen(attention)
        return (_scale(ahead, blocks),), (_scale(back, blocks),)
    # Every sequence and head has products of its own, of scores [s, s] with queries and keys, then with values.
    count, length = shape.batch * heads / setup.context, shape.sequence
    pairs = (
        Product(m=length, n=length, k=head, dtype=shape.dtype),
        Product(m=length, n=value, k=length, dtype=shape.dtype),
    )
    products = [_scale(costs.forward(each), count) for each in pairs]
    # One launch for all of them.
    launch_s = costs.factors.products * LAUNCH_S
    products = [Timed(max(each.seconds - (count - 1) * launch_s, launch_s), each.source) for each in products]
    scores = count * length**2 / SCORE_SHARE
    number, masked = NUMBER_BYTES[shape.dtype] / 2, 0 if shape.gated else MASKED
    moves = move(costs, scores * (number * SCORE_MOVES + masked), 2)
    moves_back = move(costs, scores * (number * SCORE_BACKWARD_MOVES + masked), 2)
    return (*products, moves), (*products, *products, moves_back)


def moved_bytes(shape: Shape, setup: TrainingSetup) -> float:
    """Return the bytes that a forward pass of a layer reads and writes beside its products and attention."""
    number, tokens = NUMBER_BYTES[shape.dtype], _tokens(shape, setup)
    masks = 0 if shape.gated else 2
    hidden = tokens * shape.hidden * (HIDDEN_MOVES * number + masks) / _holders(setup)
    blocks = shape.active + shape.shared_experts if shape.experts else 1
    width = count_matrices(shape) * blocks * cut(shape.width, setup)
    # Queries and keys are rotated or moved; tokens are copied to their experts, and back.
    turned = 2 * cut(shape.query + shape.key, setup)
    copied = 4 * shape.active * shape.hidden if shape.experts else 0
    return hidden + float(number) * tokens * (width + turned + copied)


def _sum_gradients(shape: Shape, setup: TrainingSetup, costs: OperationCosts, weights: float) -> Timed:
    """Return the time of adding gradients of a rank's weights to those of microbatches before: read and written."""
    number = NUMBER_BYTES[setup.gradients or USUAL_GRADIENTS[shape.dtype]]
    return costs.time_moves(2.0 * number * weights)


def move(costs: OperationCosts, size_bytes: float, kernels: int = 1) -> Timed:
    """Return the time of so many kernels that move some bytes in all."""
    seconds, source = costs.time_moves(size_bytes)
    return Timed(seconds + kernels * LAUNCH_S, source)


def _scale(timed: Timed, factor: float) -> Timed:
    """Return a time that is so many times as long."""
    return Timed(factor * timed.seconds, timed.source)


def _tokens(shape: Shape, setup: TrainingSetup) -> int:
    """Return the tokens of a microbatch on a rank."""
    return -(-shape.tokens // setup.context)


def cut(width: int, setup: TrainingSetup) -> int:
    """Return the columns of a matrix on the fullest of tensor-parallel ranks."""
    return -(-width // setup.tensor)


def _holders(setup: TrainingSetup) -> int:
    """Return among how many ranks hidden vectors are shared between products."""
    return setup.tensor if setup.sequence_parallel else 1
