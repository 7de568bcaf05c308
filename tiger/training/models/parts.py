r"""The costs of a microbatch in the layers of a transformer.

With h hidden, q the width of all queries (h but for a `head_dim` of its own), f the width of a feed-forward block of g
matrices (3 with a gate, else 2), k experts of E that a token goes through, d the width of its keys, V the vocabulary,
and microbatches of b sequences of s tokens, a forward pass is

.. math::
    F_{layer} &= 2 b s (2 h q + 2 h d + g k h f + h E) + 4 c b s^2 q \\
    F_{head} &= 2 b s h V

FLOP, where E is 0 without experts: 24 b s h^2 (1 + c s / 6h) for a GPT with f = 4h. With full attention c is 1, as in
Narayanan et al., SC 2021, arXiv:2104.04473; flash attention leaves out the half that is masked, so that c is 1/2, as
in Dao, arXiv:2307.08691, and in what later versions of Megatron-LM count. A backward pass does twice that, of which the
first term once for gradients of weights (Qi et al., ICLR 2024, arXiv:2401.10241).

What a layer of the decoder holds, and what of it tensor-parallel ranks share with and without sequence parallelism, is
that of Korthikanti et al., MLSys 2023, arXiv:2205.05198: b s h (10 + 24 / t + 5 a s / h t) bytes for a GPT in 16 bits.
"""

from dataclasses import dataclass, replace

from tiger.training.models.setup import NO_SETUP, TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.models.state import NUMBER_BYTES

# What products are given is kept as it goes in.
OPERAND_BYTES = {"fp8": 1, "bf16": 2, "fp16": 2, "fp32": 4}
# Logits and the loss are computed in fp32.
LOGIT_BYTES = 4
# Of the scores of a token with every other, those that are computed.
COMPUTED = {"flash": 0.5, "full": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Hold the costs of a microbatch in a layer: FLOP of products with weights and without, bytes held and reduced.

    Of the parameters `expert_parameters` are those of experts, `product_weights` those in matrices of attention and
    blocks, and `expert_weights` those in matrices of experts. A backward pass computes `repeated_flops` of the forward
    pass again, with all messages where the layer is `repeated`. `working_bytes` are held while the layer is at work.
    `context_bytes` are its keys and values, and `exchanged_bytes` the tokens that experts are sent and send back.
    """

    weight_flops: float = 0.0
    other_flops: float = 0.0
    repeated_flops: float = 0.0
    parameters: float
    expert_parameters: float = 0.0
    product_weights: float = 0.0
    expert_weights: float = 0.0
    held_bytes: float
    working_bytes: float = 0.0
    reduced_bytes: float
    reductions: int
    repeated: bool = False
    context_bytes: float = 0.0
    exchanged_bytes: float = 0.0


def embedding_of(shape: Shape, setup: TrainingSetup = NO_SETUP) -> Part:
    """Return the costs of looking tokens and positions up; ranks add their shares up in the forward pass alone."""
    positions = 0 if shape.gated else shape.sequence
    return Part(
        parameters=(shape.vocabulary + positions) * shape.hidden,
        held_bytes=_count_holders(setup) * _mask(shape),
        # Layers reduces as much in each of both passes.
        reduced_bytes=sent_bytes(shape) / 2,
        reductions=1,
    )


def decoder_of(shape: Shape, setup: TrainingSetup = NO_SETUP) -> Part:
    """Return the costs of attention and the feed-forward blocks behind it, of a shape whose layers are all alike.

    Tensor-parallel ranks cut all matrices but those that make latent vectors, which each of them holds and computes;
    those of keys and values as far as there are heads of them.
    """
    experts, copies = shape.experts or 0, count_key_copies(shape, setup)
    matrix = count_matrices(shape) * shape.hidden * shape.width
    attention = _attention_weights(shape)
    copied = (setup.tensor - 1) * _latent_weights(shape) + (copies - 1) * shape.hidden * (shape.key + shape.value)
    router = shape.hidden * experts
    # A multiplication and an addition for every weight and token.
    working = attention + copied + (shape.active + shape.shared_experts) * matrix + router
    weight_flops = 2.0 * shape.tokens * working
    other_flops = 2.0 * shape.tokens * _count_seen(shape) * (shape.query + shape.attention_width)
    block = matrix + _block_biases(shape)
    blocks = max(experts, 1) * block
    every, kept = _activation_bytes(shape, setup), _kept_bytes(shape, setup)
    again = {"none": 0.0, "selective": other_flops * (shape.attention == "full"), "full": weight_flops + other_flops}
    return Part(
        weight_flops=weight_flops,
        other_flops=other_flops,
        repeated_flops=again[setup.recompute],
        parameters=attention + copied + blocks + shape.shared_experts * block + router + _rest(shape),
        expert_parameters=blocks if experts else 0,
        product_weights=attention + copied + (max(experts, 1) + shape.shared_experts) * matrix,
        expert_weights=experts * matrix,
        held_bytes=kept,
        working_bytes=every - kept,
        reduced_bytes=2 * sent_bytes(shape),
        reductions=2,
        repeated=setup.recompute == "full",
        context_bytes=copies * shape.tokens * (shape.key + shape.value) * NUMBER_BYTES[shape.dtype],
        # Tokens go to each of their experts and come back.
        exchanged_bytes=2.0 * shape.active * sent_bytes(shape) if experts else 0.0,
    )


def predictor_of(shape: Shape, setup: TrainingSetup = NO_SETUP) -> Part:
    """Return the costs of a layer that predicts a further token: a decoder layer behind a projection of two vectors.

    These are the output of the layers before and the embedding of a token, each with a norm; a third norm is before the
    head. The embedding's matrix is counted, as its own stage is seldom this one. Source: DeepSeek-AI, arXiv:2412.19437.
    """
    decoder, projection = decoder_of(shape, setup), 2 * shape.hidden * shape.hidden
    flops = 2.0 * shape.tokens * projection
    # Inputs of both norms and of the product.
    inputs = 2 * shape.tokens * shape.hidden * (NUMBER_BYTES[shape.dtype] + OPERAND_BYTES[shape.dtype])
    kept = _count_holders(setup) * inputs
    return replace(
        decoder,
        weight_flops=decoder.weight_flops + flops,
        repeated_flops=decoder.repeated_flops + (flops if setup.recompute == "full" else 0.0),
        parameters=decoder.parameters + projection + 3 * _norm(shape) + shape.vocabulary * shape.hidden,
        held_bytes=decoder.held_bytes + (0.0 if setup.recompute == "full" else kept),
        working_bytes=decoder.working_bytes + (kept if setup.recompute == "full" else 0.0),
    )


def head_of(shape: Shape, setup: TrainingSetup = NO_SETUP) -> Part:
    """Return the costs of the last norm, the product with the matrix of the vocabulary, and the loss over it."""
    width, number = _count_holders(setup) * shape.hidden, NUMBER_BYTES[shape.dtype]
    # The head also works for what layers behind the decoder predict.
    tokens = (1 + shape.predictors) * shape.tokens
    return Part(
        weight_flops=2.0 * tokens * shape.hidden * shape.vocabulary,
        parameters=shape.hidden * shape.vocabulary + _norm(shape),
        held_bytes=tokens * (2 * number * width + LOGIT_BYTES * shape.vocabulary),
        # The maximum, the sum and the target's logit of every token forward, the gradient of the decoder backward.
        reduced_bytes=(1 + shape.predictors) * (sent_bytes(shape) + 3 * LOGIT_BYTES * shape.tokens) / 2,
        reductions=2,
    )


def sent_bytes(shape: Shape) -> int:
    """Return the bytes that a layer hands to the next."""
    return shape.tokens * shape.hidden * NUMBER_BYTES[shape.dtype]


def _kept_bytes(shape: Shape, setup: TrainingSetup) -> float:
    """Return the bytes that a decoder layer holds for its backward pass, times t where ranks do not share them."""
    match setup.recompute:
        case "none":
            return _activation_bytes(shape, setup)
        case "selective":
            return _activation_bytes(shape, setup) - _score_bytes(shape)
        case "full":
            return _count_holders(setup) * sent_bytes(shape)


def _activation_bytes(shape: Shape, setup: TrainingSetup) -> float:
    """Return the bytes of all activations of a decoder layer, times t where tensor-parallel ranks do not share them.

    Those are inputs of norms, of products and of activation functions, a byte of mask for every number dropped out,
    and with full attention the scores of a heads.
    """
    number, operand = NUMBER_BYTES[shape.dtype], OPERAND_BYTES[shape.dtype]
    copies = shape.active if shape.experts else 0
    # Inputs of two norms, and of the products behind them; tokens are copied to each of their experts.
    unshared = shape.tokens * shape.hidden * (2 * number + (2 + copies) * operand) + 2 * _mask(shape)
    # Inputs of the norms of latent vectors and of the products that these go into.
    unshared += shape.tokens * _latent_width(shape) * (number + operand)
    # Queries, keys and values, the input of the last product of attention; of those of a block the last one's input.
    keys = count_key_copies(shape, setup) * (shape.key + shape.value)
    attention = number * (shape.query + keys) + operand * shape.attention_width
    block = (shape.active + shape.shared_experts) * shape.width * (number * (count_matrices(shape) - 1) + operand)
    return _count_holders(setup) * unshared + shape.tokens * (attention + block) + _score_bytes(shape)


def _score_bytes(shape: Shape) -> float:
    """Return the bytes of the scores of attention that are held: none by flash attention."""
    if shape.attention == "flash":
        return 0.0
    number = NUMBER_BYTES[shape.dtype]
    return shape.tokens * shape.heads * shape.sequence * (number if shape.gated else 2.0 * number + 1)


def _count_holders(setup: TrainingSetup) -> int:
    """Return by what to multiply bytes that sequence parallelism alone shares among tensor-parallel ranks."""
    return 1 if setup.sequence_parallel else setup.tensor


def count_key_copies(shape: Shape, setup: TrainingSetup) -> float:
    """Return on how many tensor-parallel ranks each head of keys and values is; latent ones are made for every head."""
    return 1 if shape.kv_lora_rank is not None else max(setup.tensor / shape.cache_slices, 1)


def _mask(shape: Shape) -> int:
    """Return the bytes of one mask of dropout."""
    return 0 if shape.gated else shape.tokens * shape.hidden


def count_matrices(shape: Shape) -> int:
    """Return the number of matrices in a feed-forward block."""
    return 3 if shape.gated else 2


def _attention_weights(shape: Shape) -> int:
    """Return the number of weights in the matrices of attention."""
    out = shape.hidden * shape.attention_width
    if shape.kv_lora_rank is None:
        return shape.hidden * (shape.query + shape.key + shape.value) + out
    queries = (shape.q_lora_rank or shape.hidden) * shape.query
    return (
        _latent_weights(shape)
        + queries
        + shape.kv_lora_rank * shape.heads * shape.head
        + out
        + (shape.kv_lora_rank * shape.value)
    )


def _latent_weights(shape: Shape) -> int:
    """Return the number of weights that make latent vectors, with what keys know of the position, of inputs."""
    return shape.hidden * (_latent_width(shape) + (shape.rope_head_dim or 0))


def _latent_width(shape: Shape) -> int:
    """Return the width of the latent vectors of a token."""
    return (shape.kv_lora_rank or 0) + (shape.q_lora_rank or 0)


def _count_seen(shape: Shape) -> float:
    """Return how many tokens the scores of a token are computed for, in the mean over a sequence."""
    if shape.attention == "full" or shape.window is None or shape.window >= shape.sequence:
        return COMPUTED[shape.attention] * shape.sequence
    # As many as there are before the window is full, then the window.
    return shape.window * (1 - shape.window / (2 * shape.sequence))


def _block_biases(shape: Shape) -> int:
    """Return the number of biases in a feed-forward block."""
    return (count_matrices(shape) - 1) * shape.width + shape.hidden if shape.biased else 0


def _norm(shape: Shape) -> int:
    """Return the number of parameters of a norm."""
    return shape.hidden if shape.gated else 2 * shape.hidden


def _rest(shape: Shape) -> int:
    """Return the number of parameters of the norms of a layer, latent vectors' too, and of biases of its attention."""
    biases = shape.query + shape.key + shape.value + shape.hidden if shape.biased else 0
    return 2 * _norm(shape) + _latent_width(shape) + biases
