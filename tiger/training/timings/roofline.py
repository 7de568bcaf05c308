r"""The seconds of operations by a roofline: what a device computes a second, and what its memory moves.

A product takes :math:`\max(F / e P, B / 0.8 M)` seconds after its launch, for F FLOP and B bytes of operands and
result, with the peak P of the device, the share e that products reach of it, and the bandwidth M of its memory. In 8
bits both are added up, as operands are read and cast first. Source of the form: Williams et al., Commun. ACM 52 (2009)
65, doi:10.1145/1498765.1498785. Constants are medians of tables that were measured (`accelerators`).
"""

from tiger.model.units import GIGABYTE
from tiger.training.hardware.accelerators import Accelerator
from tiger.training.precision import Precision
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Product

OPERAND_BYTES: dict[Precision, int] = {"fp8": 1, "bf16": 2, "fp16": 2, "fp32": 4}
RESULT_BYTES: dict[Precision, int] = {"fp8": 2, "bf16": 2, "fp16": 2, "fp32": 4}
# Bytes of a cast: 2 are read, a number of 8 bits is written, and once more transposed, for products of the other pass.
CAST_BYTES = 4
# Of the bandwidth of memory, what copies and products of few tokens reach, and the launch of a kernel (same tables).
MEMORY_SHARE, LAUNCH_S = 0.8, 4e-6
# Of the peak in 16 bits, what attention that holds no scores reaches in long sequences, and the tokens of those in
# which it reaches half of that; 10 % off on A100 to B200 in the same tables, with 2,048 to 8,192 tokens.
ATTENTION_SHARE, HALF_TOKENS = 0.6, 1300


def moved_s(device: Accelerator, size_bytes: float) -> float:
    """Return the seconds in which memory moves so many bytes, without a launch."""
    return size_bytes / (MEMORY_SHARE * device.bandwidth_gb * GIGABYTE)


def product_s(device: Accelerator, product: Product) -> float:
    """Return the seconds of a product, with the cast of its first operand where products are in 8 bits."""
    operand = OPERAND_BYTES[product.dtype] if device.casts(product.dtype) else max(2, OPERAND_BYTES[product.dtype])
    m, n, k = product.m, product.n, product.k
    compute_s = product.flops / device.products(product.dtype)
    size = operand * (m * k + k * n) + RESULT_BYTES[product.dtype] * m * n
    if device.casts(product.dtype):
        return LAUNCH_S + compute_s + moved_s(device, size + CAST_BYTES * m * k)
    return LAUNCH_S + max(compute_s, moved_s(device, size))


def attention_s(device: Accelerator, attention: Attention) -> float:
    """Return the seconds of a forward pass of attention that holds no scores, in 16 bits or more."""
    width = attention.heads * (attention.head + attention.value_head)
    flops = 2.0 * attention.sequences * attention.tokens * count_seen(attention) * width
    ramp = attention.tokens / (attention.tokens + HALF_TOKENS)
    return LAUNCH_S + flops / (ATTENTION_SHARE * ramp * device.peak(attention.dtype))


def decoding_s(device: Accelerator, decoding: Decoding) -> float:
    """Return the seconds of attention of new tokens, for which the keys and values of all others are read."""
    numbers = decoding.kv_heads * (decoding.head + decoding.value_head)
    size = decoding.number_bytes * decoding.sequences * decoding.context * numbers
    flops = 2.0 * decoding.sequences * decoding.context * decoding.heads * (decoding.head + decoding.value_head)
    return LAUNCH_S + max(flops / device.products(decoding.dtype), moved_s(device, size))


def blocks_s(device: Accelerator, blocks: ExpertBlocks) -> float:
    """Return the seconds of a forward pass of the blocks of experts, all of which have equally many tokens."""
    tokens = blocks.tokens * blocks.active * blocks.experts / blocks.routed
    weights = blocks.matrices * blocks.hidden * blocks.width
    operand = OPERAND_BYTES[blocks.dtype] if device.casts(blocks.dtype) else max(2, OPERAND_BYTES[blocks.dtype])
    results = RESULT_BYTES[blocks.dtype] * (blocks.matrices - 1) * blocks.width
    size = operand * count_touched(blocks) * weights + tokens * (operand * blocks.hidden + results)
    compute_s = 2.0 * tokens * weights / device.products(blocks.dtype)
    if device.casts(blocks.dtype):
        cast = CAST_BYTES * tokens * (blocks.hidden + blocks.width)
        return 2 * LAUNCH_S + compute_s + moved_s(device, size + cast)
    return 2 * LAUNCH_S + max(compute_s, moved_s(device, size))


def count_touched(blocks: ExpertBlocks) -> float:
    """Return how many of a rank's experts any of the tokens goes through, where all are as likely."""
    return blocks.experts * (1 - (1 - blocks.active / blocks.routed) ** blocks.tokens)


def count_seen(attention: Attention) -> float:
    """Return how many tokens a token sees, in the mean over a sequence."""
    window = attention.window
    if window is None or window >= attention.tokens:
        return attention.tokens / 2
    # As many as there are before the window is full, then the window.
    return window * (1 - window / (2 * attention.tokens))
