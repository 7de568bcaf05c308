"""The seconds of a step of a model that serves: one token for each of its sequences, whose caches are full."""

from collections.abc import Sequence
from dataclasses import replace

from tiger.training.models.cache import token_bytes
from tiger.training.models.passes import KERNELS, PassTimes, cut, list_products, move, moved_bytes
from tiger.training.models.serving import MatrixBytes
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.timings.operation_costs import OperationCosts
from tiger.training.timings.operations import Decoding, ExpertBlocks, Product
from tiger.training.timings.roofline import LAUNCH_S, count_touched, moved_s
from tiger.training.timings.timed import Timed

Products = Sequence[Product | ExpertBlocks]


def time_decoder_step(
    shape: Shape, setup: TrainingSetup, costs: OperationCosts, stored: MatrixBytes | None = None
) -> PassTimes:
    """Return the times of a layer of the decoder, whose matrices are stored as they are computed, or in other types."""
    step = _one_token(shape)
    products, _ = list_products(step, setup)
    context = min(shape.sequence, shape.window or shape.sequence)
    attention = Decoding(
        sequences=shape.batch,
        context=context,
        heads=cut(shape.heads, setup),
        kv_heads=cut(shape.kv_heads or shape.heads, setup),
        head=shape.head,
        value_head=shape.v_head_dim or shape.head,
        dtype="bf16" if shape.dtype == "fp8" else shape.dtype,
        number_bytes=token_bytes(shape) / shape.cache_numbers,
    )
    if shape.kv_lora_rank is not None:
        # A latent vector has no heads; it is read once, and is keys and, without positions, values of all heads.
        both = shape.cache_numbers + shape.kv_lora_rank
        attention = replace(
            attention,
            kv_heads=1,
            head=shape.cache_numbers,
            value_head=shape.kv_lora_rank,
            number_bytes=token_bytes(shape) / both,
        )
    moves = move(costs, moved_bytes(step, setup), KERNELS)
    times = _time_products(products, costs, stored)
    experts_s = sum(
        each.seconds for each, product in zip(times, products, strict=True) if isinstance(product, ExpertBlocks)
    )
    return PassTimes((*times, costs.forward(attention), moves), (), 0.0, 0.0, experts_s)


def time_embedding_step(shape: Shape, costs: OperationCosts) -> PassTimes:
    """Return the times of looking a token of each sequence up."""
    return PassTimes((move(costs, 4.0 * shape.batch * shape.hidden),), (), 0.0, 0.0)


def time_head_step(
    shape: Shape, setup: TrainingSetup, costs: OperationCosts, stored: MatrixBytes | None = None
) -> PassTimes:
    """Return the times of the product with the matrix of the vocabulary, of which the next token is taken."""
    words = Product(
        m=shape.batch,
        n=cut(shape.vocabulary, setup),
        k=shape.hidden,
        dtype="bf16" if shape.dtype == "fp8" else shape.dtype,
    )
    return PassTimes(tuple(_time_products((words,), costs, stored)), (), 0.0, 0.0)


def _time_products(products: Products, costs: OperationCosts, stored: MatrixBytes | None) -> list[Timed]:
    """Return the times of products, which may be those of tables where weights are stored as they are computed."""
    if stored is None:
        return [costs.forward(product) for product in products]
    return [_count_product(product, costs, stored) for product in products]


def _count_product(product: Product | ExpertBlocks, costs: OperationCosts, stored: MatrixBytes) -> Timed:
    """Return the time of a product with quantized weights: as long as these are read, or as it is computed."""
    if isinstance(product, Product):
        kernels, size, flops = 1, stored.shared * product.n * product.k, product.flops
    else:
        block = float(product.matrices * product.hidden * product.width)
        kernels, size = 2, stored.experts * count_touched(product) * block
        flops = 2.0 * product.tokens * product.active * product.experts / product.routed * block
    # They are computed in 16 bits, whatever they are kept in.
    seconds = kernels * LAUNCH_S + max(flops / costs.device.products("bf16"), moved_s(costs.device, size))
    return Timed(costs.factors.products * seconds, "counted")


def _one_token(shape: Shape) -> Shape:
    """Return a shape with sequences of one token, the next."""
    return replace(shape, sequence=1)
