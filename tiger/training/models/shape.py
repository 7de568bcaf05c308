"""The shape of a transformer: the numbers that decide its FLOP, memory and messages."""

from dataclasses import dataclass
from typing import Literal, get_args

from tiger.errors import InputError
from tiger.model.values import check_flag, check_positive, check_whole
from tiger.model.wording import describe
from tiger.training.models.weights import CacheType, Weights
from tiger.training.precision import Precision

Attention = Literal["flash", "full"]
FIELD = "model/transformer"
# Products of three such numbers stay inside float64.
NUMBER_LIMIT = 10**9
# FLOP per second that keep seconds inside float64.
FLOPS_LIMITS = (1.0, 1e30)
# Experts of a token by default, as in Mixtral.
TOP_K = 2
# As in the code of Llama, which rounds widths up to a multiple of this.
WIDTH_STEP = 256

# Numbers that every shape has, and those that may be left open.
COUNTS = ("layers", "hidden", "heads", "vocabulary", "sequence", "batch", "expert_step")
OPEN_COUNTS = (
    "ffn",
    "kv_heads",
    "head_dim",
    "experts",
    "top_k",
    "kv_lora_rank",
    "q_lora_rank",
    "rope_head_dim",
    "v_head_dim",
    "window",
    "full_step",
    "dense_ffn",
)
# What says nothing without another number, and its value then, which is none but for these.
NEEDS = {
    "kv_lora_rank": ("q_lora_rank", "rope_head_dim", "v_head_dim"),
    "window": ("full_step",),
    "experts": ("dense_layers", "dense_ffn", "expert_step", "shared_experts"),
}
OFF = {"dense_layers": 0, "expert_step": 1, "shared_experts": 0}


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
    `biases` (default: not gated) adds one to each product of attention and of the blocks, as gpt-oss has them.
    With `kv_lora_rank` keys and values are made of one latent vector of as many numbers a token, and queries of one of
    `q_lora_rank` (default: of the layer's input); a head has `head_dim` numbers beside `rope_head_dim` for the position
    (default: none), and values of `v_head_dim` (default: head_dim). That is the attention of DeepSeek-V2,
    arXiv:2405.04434. With a `window` a token sees as many tokens, itself among them, but for each `full_step`-th layer
    (default: none), where it sees all of them.
    Of a mixture the first `dense_layers` have one block of `dense_ffn` (default: ffn), and of the others each
    `expert_step`-th has experts, counted from the first layer on; each token also goes through `shared_experts`.
    `mtp_layers` predict further tokens in training, each by another layer with a projection; they do not serve.
    `dtype` fp8 computes products in 8 bits, and keeps weights in bf16 beside copies in fp8.
    `serve` makes a model for inference: there is no backward pass and nothing is held for one, and the state is weights
    and the keys and values of `batch` x `sequence` tokens, the most that are answered at once. `weights` (default:
    dtype) and `kv` (default: dtype, 16 bits of fp8) are the types that these are kept in.
    `flops` is what a device of speed 1 sustains a second, all of its time in layers counted; without it times are those
    of operations on the types of devices at hand. Raises InputError that names the key.
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
    biases: bool | None = None
    kv_lora_rank: int | None = None
    q_lora_rank: int | None = None
    rope_head_dim: int | None = None
    v_head_dim: int | None = None
    window: int | None = None
    full_step: int | None = None
    dense_layers: int = 0
    dense_ffn: int | None = None
    expert_step: int = 1
    shared_experts: int = 0
    mtp_layers: int = 0
    dtype: Precision = "bf16"
    attention: Attention = "flash"
    serve: bool = False
    weights: Weights | None = None
    kv: CacheType | None = None
    flops: float | None = None

    def __post_init__(self) -> None:
        """Check every bound."""
        for name in COUNTS:
            _check_count(name, getattr(self, name))
        for name in OPEN_COUNTS:
            if getattr(self, name) is not None:
                _check_count(name, getattr(self, name))
        for name in ("dense_layers", "shared_experts", "mtp_layers"):
            _check_count(name, getattr(self, name), least=0)
        _check_choice("dtype", self.dtype, get_args(Precision))
        _check_choice("attention", self.attention, get_args(Attention))
        check_flag(f"{FIELD}/gated", self.gated)
        check_flag(f"{FIELD}/tied", self.shared)
        check_flag(f"{FIELD}/biases", self.biased)
        check_flag(f"{FIELD}/serve", self.serve)
        for name, known in (("weights", get_args(Weights)), ("kv", get_args(CacheType))):
            if (value := getattr(self, name)) is not None:
                _check_choice(name, value, known)
                if not self.serve:
                    reason = "expected serve=true beside it or the option serve, as weights that learn are in dtype"
                    raise InputError(f"{FIELD}/{name}", f"{reason}, got {value}")
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Raise InputError for numbers that do not go together."""
        if (
            self.flops is not None
            and not FLOPS_LIMITS[0] <= check_positive(f"{FIELD}/flops", self.flops) <= FLOPS_LIMITS[1]
        ):
            raise InputError(f"{FIELD}/flops", f"expected a number from 1 to 1e30, got {describe(self.flops)}")
        if self.head_dim is None:
            _check_divides("heads", self.heads, "hidden", self.hidden)
        _check_divides("kv_heads", self.kv_heads or self.heads, "heads", self.heads)
        if self.top_k is not None and self.top_k > (self.experts or 0):
            raise InputError(f"{FIELD}/top_k", f"expected at most {self.experts or 0} (experts), got {self.top_k}")
        if self.dense_layers > self.layers:
            reason = f"expected at most {self.layers} (layers), got {self.dense_layers}"
            raise InputError(f"{FIELD}/dense_layers", reason)
        for needed, names in NEEDS.items():
            for name in names:
                if getattr(self, needed) is None and getattr(self, name) != OFF.get(name):
                    raise InputError(f"{FIELD}/{name}", f"expected none without {needed}, got {getattr(self, name)}")
        if self.kv_lora_rank is not None and self.kv_heads not in (None, self.heads):
            reason = f"expected none beside kv_lora_rank, whose latent vector all heads share, got {self.kv_heads}"
            raise InputError(f"{FIELD}/kv_heads", reason)

    @property
    def width(self) -> int:
        """Return the width of a feed-forward block."""
        if self.ffn is not None:
            return self.ffn
        return -(-8 * self.hidden // (3 * WIDTH_STEP)) * WIDTH_STEP if self.gated else 4 * self.hidden

    @property
    def head(self) -> int:
        """Return the width of a head, without the numbers of its position where these are apart."""
        return self.head_dim or self.hidden // self.heads

    @property
    def query(self) -> int:
        """Return the width of all queries of a token."""
        return self.heads * (self.head + (self.rope_head_dim or 0))

    @property
    def key(self) -> int:
        """Return the width of all keys of a token."""
        return (self.kv_heads or self.heads) * (self.head + (self.rope_head_dim or 0))

    @property
    def value(self) -> int:
        """Return the width of all values of a token."""
        return (self.kv_heads or self.heads) * (self.v_head_dim or self.head)

    @property
    def attention_width(self) -> int:
        """Return the width of what attention makes of the values of other tokens, in all heads."""
        return self.heads * (self.v_head_dim or self.head)

    @property
    def cache_numbers(self) -> int:
        """Return how many numbers a token leaves in the cache of a layer: a latent vector, or keys and values."""
        if self.kv_lora_rank is not None:
            return self.kv_lora_rank + (self.rope_head_dim or 0)
        return self.key + self.value

    @property
    def cache_slices(self) -> int:
        """Return among how many tensor-parallel ranks the cache is cut; more of them hold copies of the same."""
        return 1 if self.kv_lora_rank is not None else self.kv_heads or self.heads

    @property
    def active(self) -> int:
        """Return the number of feed-forward blocks that a token goes through."""
        return 1 if self.experts is None else self.top_k or min(TOP_K, self.experts)

    @property
    def shared(self) -> bool:
        """Return whether embedding and head share a matrix."""
        return not self.gated if self.tied is None else self.tied

    @property
    def biased(self) -> bool:
        """Return whether products of attention and of blocks have biases."""
        return not self.gated if self.biases is None else self.biases

    @property
    def predictors(self) -> int:
        """Return the number of layers that predict further tokens, none of a model that serves."""
        return 0 if self.serve else self.mtp_layers

    @property
    def tokens(self) -> int:
        """Return the number of tokens in a microbatch."""
        return self.batch * self.sequence


def _check_count(name: str, value: object, least: int = 1) -> None:
    """Raise InputError unless a value is a whole number from the least to the limit."""
    if not (isinstance(value, int) and least <= check_whole(f"{FIELD}/{name}", value) <= NUMBER_LIMIT):
        reason = f"expected a whole number from {least} to {NUMBER_LIMIT}, got {describe(value)}"
        raise InputError(f"{FIELD}/{name}", reason)


def _check_choice(name: str, value: object, known: tuple[str, ...]) -> None:
    """Raise InputError unless a value is one of the known words."""
    if value not in known:
        raise InputError(f"{FIELD}/{name}", f"expected one of {', '.join(known)}, got {describe(value)}")


def _check_divides(name: str, value: int, other: str, total: int) -> None:
    """Raise InputError unless a number divides another."""
    if total % value:
        raise InputError(f"{FIELD}/{name}", f"expected a divisor of {other} ({total}), got {value}")
