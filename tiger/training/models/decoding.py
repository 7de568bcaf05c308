"""The seconds of a step of a model that serves: one token for each of its sequences, whose caches are full."""

from collections.abc import Sequence
from dataclasses import replace

from tiger.training.models.cache import token_bytes
from tiger.training.models.passes import KERNELS, PassTimes, cut, list_products, move, moved_bytes
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.shape import Shape
from tiger.training.timings.operation_costs import OperationCosts
from tiger.training.timings.operations import Decoding, ExpertBlocks, Product
from tiger.training.timings.roofline import LAUNCH_S, count_touched
from tiger.training.timings.timed import Timed

Products = Sequence[Product | ExpertBlocks]


def time_decoder_step(shape: Shape, setup: TrainingSetup, costs: OperationCosts, number_bytes: float) -> PassTimes:
    """Return the times of a layer of the decoder, whose parameters have so many bytes in the mean."""
    step = _one_token(shape)
    products, _ = list_products(step, setup)
    context = min(shape.sequence, shape.window or shape.sequence)
    # A latent vector has no heads, and is read once for keys and values.
    latent = shape.kv_lora_rank is not None
    attention = Decoding(
        sequences=shape.batch,
        context=context,
        heads=cut(shape.heads, setup),
        kv_heads=1 if latent else cut(shape.kv_heads or shape.heads, setup),
        head=shape.cache_numbers if latent else shape.head,
        value_head=0 if latent else shape.v_head_dim or shape.head,
        dtype="bf16" if shape.dtype == "fp8" else shape.dtype,
        number_bytes=token_bytes(shape) / shape.cache_numbers,
    )
    moves = move(costs, moved_bytes(step, setup), KERNELS)
    times = _time_products(products, shape, costs, number_bytes)
    experts_s = sum(
        each.seconds for each, product in zip(times, products, strict=True) if isinstance(product, ExpertBlocks)
    )
    return PassTimes((*times, costs.forward(attention), moves), (), 0.0, 0.0, experts_s)


def time_embedding_step(shape: Shape, costs: OperationCosts) -> PassTimes:
    """Return the times of looking a token of each sequence up."""
    return PassTimes((move(costs, 4.0 * shape.batch * shape.hidden),), (), 0.0, 0.0)


def time_head_step(shape: Shape, setup: TrainingSetup, costs: OperationCosts, number_bytes: float) -> PassTimes:
    """Return the times of the product with the matrix of the vocabulary, of which the next token is taken."""
    words = Product(
        m=shape.batch,
        n=cut(shape.vocabulary, setup),
        k=shape.hidden,
        dtype="bf16" if shape.dtype == "fp8" else shape.dtype,
    )
    return PassTimes(tuple(_time_products((words,), shape, costs, number_bytes)), (), 0.0, 0.0)


def _time_products(products: Products, shape: Shape, costs: OperationCosts, number_bytes: float) -> list[Timed]:
    """Return the times of products with weights of so many bytes a number, which are those of tables where plain."""
    if shape.weights is None:
        return [costs.forward(product) for product in products]
    return [_count_product(product, costs, number_bytes) for product in products]


def _count_product(product: Product | ExpertBlocks, costs: OperationCosts, number_bytes: float) -> Timed:
    """Return the time of a product with quantized weights: as long as these are read, or as it is computed."""
    if isinstance(product, Product):
        weights, flops = float(product.n * product.k), product.flops
    else:
        block = float(product.matrices * product.hidden * product.width)
        weights, flops = (
            count_touched(product) * block,
            2.0 * product.tokens * product.active * product.experts / product.routed * block,
        )
    # They are computed in 16 bits, whatever they are kept in.
    compute_s = flops / costs.device.products("bf16")
    return Timed(LAUNCH_S + max(compute_s, costs.moved(number_bytes * weights).seconds), "counted")


def _one_token(shape: Shape) -> Shape:
    """Return a shape with sequences of one token, the next."""
    return replace(shape, sequence=1)
