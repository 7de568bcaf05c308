r"""The costs of a microbatch in the layers of a transformer.

With h hidden, f the width of a feed-forward block of g matrices (3 with a gate, else 2), k experts of E that a token
goes through, d the width of its keys, V the vocabulary, and microbatches of b sequences of s tokens, a forward pass is

.. math::
    F_{layer} &= 2 b s (2 h^2 + 2 h d + g k h f + h E) + 4 c b s^2 h \\
    F_{head} &= 2 b s h V

FLOP, where E is 0 without experts: 24 b s h^2 (1 + c s / 6h) for a GPT with f = 4h. With full attention c is 1, as in
Narayanan et al., SC 2021, arXiv:2104.04473; flash attention leaves out the half that is masked, so that c is 1/2, as
in Dao, arXiv:2307.08691, and in what later versions of Megatron-LM count. A backward pass does twice that, of which the
first term once for gradients of weights (Qi et al., ICLR 2024, arXiv:2401.10241).
"""

from dataclasses import dataclass

from tiger.training.models.shape import Shape

NUMBER_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}
# Logits and the loss are computed in fp32.
LOGIT_BYTES = 4
# Of the scores of a token with every other, those that are computed.
COMPUTED = {"flash": 0.5, "full": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Hold the costs of a microbatch in a layer: FLOP of products with weights and without, bytes held and reduced."""

    weight_flops: float = 0.0
    other_flops: float = 0.0
    parameters: float
    held_bytes: float
    reduced_bytes: float
    reductions: int


def embedding_of(shape: Shape) -> Part:
    """Return the costs of looking tokens and positions up; ranks add their shares up in the forward pass alone."""
    positions = 0 if shape.gated else shape.sequence
    return Part(
        parameters=(shape.vocabulary + positions) * shape.hidden,
        held_bytes=_mask(shape),
        # Layers reduces as much in each of both passes.
        reduced_bytes=sent_bytes(shape) / 2,
        reductions=1,
    )


def decoder_of(shape: Shape) -> Part:
    """Return the costs of attention and the feed-forward blocks behind it."""
    experts = shape.experts or 0
    matrix = _matrices(shape) * shape.hidden * shape.width
    attention = 2 * shape.hidden * (shape.hidden + shape.key_value)
    router = shape.hidden * experts
    return Part(
        # A multiplication and an addition for every weight and token.
        weight_flops=2.0 * shape.tokens * (attention + shape.active * matrix + router),
        other_flops=4.0 * COMPUTED[shape.attention] * shape.tokens * shape.sequence * shape.hidden,
        parameters=attention + max(experts, 1) * (matrix + _block_biases(shape)) + router + _rest(shape),
        held_bytes=_activation_bytes(shape),
        reduced_bytes=2 * sent_bytes(shape),
        reductions=2,
    )


def head_of(shape: Shape) -> Part:
    """Return the costs of the last norm, the product with the matrix of the vocabulary, and the loss over it."""
    width, number = shape.hidden, NUMBER_BYTES[shape.dtype]
    return Part(
        weight_flops=2.0 * shape.tokens * width * shape.vocabulary,
        parameters=width * shape.vocabulary + _norm(shape),
        held_bytes=shape.tokens * (2 * number * width + LOGIT_BYTES * shape.vocabulary),
        # The maximum, the sum and the target's logit of every token forward, the gradient of the decoder backward.
        reduced_bytes=(sent_bytes(shape) + 3 * LOGIT_BYTES * shape.tokens) / 2,
        reductions=2,
    )


def cached_bytes(shape: Shape) -> int:
    """Return the bytes of the keys and values of all tokens in a layer of the decoder."""
    return 2 * shape.tokens * shape.key_value * NUMBER_BYTES[shape.dtype]


def sent_bytes(shape: Shape) -> int:
    """Return the bytes that a layer hands to the next."""
    return shape.tokens * shape.hidden * NUMBER_BYTES[shape.dtype]


def _activation_bytes(shape: Shape) -> float:
    """Return the bytes held by a decoder layer: b s h (34 + 5 a s / h) for a GPT in 16 bits with full attention.

    Those are inputs of norms, of products and of activation functions, a byte of mask for every number dropped out,
    and with full attention the scores of a heads.
    """
    number, copies = NUMBER_BYTES[shape.dtype], shape.active if shape.experts else 0
    # Inputs of two norms, of two products and the queries between them, as wide as the model; keys and values.
    attention = 5 * shape.hidden + 2 * shape.key_value
    # Tokens are copied to each of their experts.
    blocks = (1 + copies) * shape.hidden + shape.active * _matrices(shape) * shape.width
    scores = shape.heads * shape.sequence * (number if shape.gated else 2 * number + 1)
    full = scores if shape.attention == "full" else 0
    return shape.tokens * (number * (attention + blocks) + full) + 2 * _mask(shape)


def _mask(shape: Shape) -> int:
    """Return the bytes of one mask of dropout."""
    return 0 if shape.gated else shape.tokens * shape.hidden


def _matrices(shape: Shape) -> int:
    """Return the number of matrices in a feed-forward block."""
    return 3 if shape.gated else 2


def _block_biases(shape: Shape) -> int:
    """Return the number of biases in a feed-forward block."""
    return 0 if shape.gated else shape.width + shape.hidden


def _norm(shape: Shape) -> int:
    """Return the number of parameters of a norm."""
    return shape.hidden if shape.gated else 2 * shape.hidden


def _rest(shape: Shape) -> int:
    """Return the number of parameters of both norms of a layer and of the biases of its attention."""
    biases = 0 if shape.gated else 2 * (shape.hidden + shape.key_value)
    return 2 * _norm(shape) + biases
