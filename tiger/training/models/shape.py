"""The shape of a transformer: the numbers that decide its FLOP, memory and messages."""

from dataclasses import dataclass
from typing import Literal, get_args

from tiger.errors import InputError
from tiger.model.values import check_flag, check_positive, check_whole
from tiger.model.wording import describe

Precision = Literal["fp8", "bf16", "fp16", "fp32"]
Attention = Literal["flash", "full"]
FIELD = "model/transformer"
# Products of three such numbers stay inside float64.
NUMBER_LIMIT = 10**9
# Dense peak of an H100 SXM: 989e12 FLOP/s in 16 bits, twice that in 8, half of it in TF32; large models reach about two
# fifths.
FLOPS_OF_DTYPE = {"fp8": 8e14, "bf16": 4e14, "fp16": 4e14, "fp32": 2e14}
# FLOP per second that keep seconds inside float64.
FLOPS_LIMITS = (1.0, 1e30)
# Experts of a token by default, as in Mixtral.
TOP_K = 2
# As in the code of Llama, which rounds widths up to a multiple of this.
WIDTH_STEP = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Describe a decoder: L `layers` of width `hidden`, `heads` of attention, microbatches of `batch` x `sequence`.

    `ffn` is the width of the feed-forward block (default: 4 x hidden; gated: 8/3 x hidden, rounded up to a multiple of
    256), `kv_heads` the number of heads with keys and values of their own (default: heads), and `head_dim` the width of
    a head (default: hidden / heads). With `experts` a layer holds as many feed-forward blocks, of which a token goes
    through `top_k` (default: 2, or 1 of 1).
    `gated` shapes are built like Llama: a gate beside the feed-forward block, no biases, no learned positions, no
    dropout, norms without shift; others like GPT, with all of those. `tied` (default: not gated) shares the matrix of
    the embedding with the head. `attention` that is flash computes the half of the scores that a token may see, and
    holds none; full computes and holds all of them.
    `dtype` fp8 computes products in 8 bits, and keeps weights in bf16 beside copies in fp8.
    `serve` makes a model for inference: there is no backward pass and nothing is held for one, and the state is weights
    and the keys and values of `batch` x `sequence` tokens, the most that are answered at once.
    `flops` is what a device of speed 1 achieves a second: by default 4e14, two fifths of the 989e12 that an H100 can do
    in 16 bits, twice that in fp8 and half of it in fp32. Raises InputError that names the key.
    """

    layers: int
    hidden: int
    heads: int
    vocabulary: int
    sequence: int
    batch: int = 1
    ffn: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    experts: int | None = None
    top_k: int | None = None
    gated: bool = False
    tied: bool | None = None
    dtype: Precision = "bf16"
    attention: Attention = "flash"
    serve: bool = False
    flops: float | None = None

    def __post_init__(self) -> None:
        """Check every bound."""
        for name in ("layers", "hidden", "heads", "vocabulary", "sequence", "batch"):
            _check_count(name, getattr(self, name))
        for name in ("ffn", "kv_heads", "head_dim", "experts", "top_k"):
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name))
        _check_choice("dtype", self.dtype, get_args(Precision))
        _check_choice("attention", self.attention, get_args(Attention))
        check_flag(f"{FIELD}/gated", self.gated)
        check_flag(f"{FIELD}/tied", self.shared)
        check_flag(f"{FIELD}/serve", self.serve)
        if not FLOPS_LIMITS[0] <= check_positive(f"{FIELD}/flops", self.flops_per_s) <= FLOPS_LIMITS[1]:
            raise InputError(f"{FIELD}/flops", f"expected a number from 1 to 1e30, got {describe(self.flops_per_s)}")
        if self.head_dim is None:
            _check_divides("heads", self.heads, "hidden", self.hidden)
        _check_divides("kv_heads", self.kv_heads or self.heads, "heads", self.heads)
        if self.top_k is not None and self.top_k > (self.experts or 0):
            raise InputError(f"{FIELD}/top_k", f"expected at most {self.experts or 0} (experts), got {self.top_k}")

    @property
    def width(self) -> int:
        """Return the width of a feed-forward block."""
        if self.ffn is not None:
            return self.ffn
        return -(-8 * self.hidden // (3 * WIDTH_STEP)) * WIDTH_STEP if self.gated else 4 * self.hidden

    @property
    def query(self) -> int:
        """Return the width of all queries of a token."""
        return self.heads * (self.head_dim or self.hidden // self.heads)

    @property
    def key_value(self) -> int:
        """Return the width of all keys of a token, which is that of all its values."""
        return (self.kv_heads or self.heads) * (self.head_dim or self.hidden // self.heads)

    @property
    def active(self) -> int:
        """Return the number of feed-forward blocks that a token goes through."""
        return 1 if self.experts is None else self.top_k or min(TOP_K, self.experts)

    @property
    def shared(self) -> bool:
        """Return whether embedding and head share a matrix."""
        return not self.gated if self.tied is None else self.tied

    @property
    def flops_per_s(self) -> float:
        """Return the FLOP that a device of speed 1 does a second."""
        return FLOPS_OF_DTYPE[self.dtype] if self.flops is None else self.flops

    @property
    def tokens(self) -> int:
        """Return the number of tokens in a microbatch."""
        return self.batch * self.sequence


def _check_count(name: str, value: object) -> None:
    """Raise InputError unless a value is a whole number from 1 to the limit."""
    if not (isinstance(value, int) and 1 <= check_whole(f"{FIELD}/{name}", value) <= NUMBER_LIMIT):
        raise InputError(f"{FIELD}/{name}", f"expected a whole number from 1 to {NUMBER_LIMIT}, got {describe(value)}")


def _check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise InputError unless a value is one of the known words."""
    if value not in known:
        raise InputError(f"{FIELD}/{name}", f"expected one of {', '.join(known)}, got {describe(value)}")


def _check_divides(name: str, value: int, other: str, total: int) -> None:
    """Raise InputError unless a number divides another."""
    if total % value:
        raise InputError(f"{FIELD}/{name}", f"expected a divisor of {other} ({total}), got {value}")
