"""What one rank computes in a pass of a layer: products, attention, and numbers that are read and written."""

from dataclasses import dataclass

from tiger.training.precision import Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """State a product of matrices `[m, k]` and `[k, n]` in a type, m tokens with a matrix of k x n weights."""

    m: int
    n: int
    k: int
    dtype: Precision

    @property
    def flops(self) -> float:
        """Return the FLOP, a multiplication and an addition for each of m n k."""
        return 2.0 * self.m * self.n * self.k

    @property
    def by_inputs(self) -> "Product":
        """Return the product that makes gradients of inputs: `[m, n]` and `[n, k]`."""
        return Product(m=self.m, n=self.k, k=self.n, dtype=self.dtype)

    @property
    def by_weights(self) -> "Product":
        """Return the product that makes gradients of weights: `[k, m]` and `[m, n]`."""
        return Product(m=self.k, n=self.n, k=self.m, dtype=self.dtype)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """State causal attention of `sequences` of `tokens`, each of which sees all before it, or a `window` of them.

    Heads of queries and keys have `head` numbers, those of values `value_head`.
    """

    sequences: int
    tokens: int
    heads: int
    kv_heads: int
    head: int
    value_head: int
    dtype: Precision
    window: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoding:
    """State the attention of one new token in each of `sequences`, which sees `context` tokens before it.

    Their keys and values have `number_bytes` a number.
    """

    sequences: int
    context: int
    heads: int
    kv_heads: int
    head: int
    value_head: int
    dtype: Precision
    number_bytes: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpertBlocks:
    """State the feed-forward blocks of a mixture on one rank: `tokens` of `hidden` numbers, each through `active`.

    These are the tokens of all ranks that share the experts. The rank holds `experts` of all `routed` ones, and of each
    block, which has so many `matrices`, `width` columns.
    """

    tokens: int
    hidden: int
    width: int
    active: int
    experts: int
    routed: int
    dtype: Precision
    matrices: int = 3


Operation = Product | Attention | Decoding | ExpertBlocks
