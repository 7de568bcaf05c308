r"""The bytes that the ranks of a distributed training send each other in one iteration.

Ranks are numbered as Megatron-LM does by default (`tp-cp-ep-dp-pp`): t ranks of tensor parallelism fastest, then c of
context parallelism, then d replicas, then p stages. Layers with experts see the c d ranks between as d c / e times e
ranks of expert parallelism, which are next to each other. A pipeline takes m microbatches of b sequences of s tokens
with h numbers; A = m b s h times the bytes of a number. In an iteration a rank sends

.. math::
    tensor &= 4 (1 + k') \frac{A}{c} \frac{t - 1}{t} \quad\text{a layer, to the next of its ring} \\
    context &= 6 \frac{A}{c\,t} (c - 1) \quad\text{a layer, to the next of its ring} \\
    expert &= 4 \frac{k A}{c\,t\,e} \quad\text{a layer, to each other of its group} \\
    pipeline &= \frac{A}{c\,t} \quad\text{to its like in each neighbouring stage} \\
    data &= 2 G \frac{d c - 1}{d c} \quad\text{to the next of its ring}

In a layer t ranks all-reduce twice forward and twice backward. c ranks pass their keys and values around in both
passes, and gradients of these back. Each token goes to k experts, which are as likely as each other, and comes back, in
both passes; k' is k then, as its copies are what t ranks reduce behind attention, and 1 without expert parallelism. G
are the gradients of a rank, without those of experts that e > 1 ranks share out: d c / e ranks reduce these. Weights,
and what is reduced in embedding and head, are those of a GPT as `tiger.training.models.parts` counts them, which tests
hold together.

Sources: Narayanan et al., SC 2021, arXiv:2104.04473, sections 2.3, 3 and 4.1 (tensor, pipeline, data); Liu et al.,
arXiv:2310.01889, and Megatron Core's guide to context parallelism, for which rings are all-gathers and reduce-scatters
of keys and values; Lepikhin et al., ICLR 2021, arXiv:2006.16668, section 3.2 (all-to-all before and behind experts).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tiger.errors import InputError
from tiger.formats.patterns.messages import Block, Pattern, pair_all
from tiger.model.arrays import BoolArray, FloatArray, IntArray

# The maximum, the sum and the target's logit of every token are reduced in fp32.
LOGIT_BYTES = 3 * 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPattern:
    """Hold how a transformer is trained: the degrees of parallelism, its sizes, and weights of the groups' messages.

    `ep` ranks out of the `cp` x `dp` share out the `experts` of a layer, of which a token takes `top_k`, 0 for two as
    in Mixtral (arXiv:2401.04088); 0 experts are one feed-forward block. `layers`, `hidden` and `sequence` default to
    those of GPT-3 with 175 billion parameters (arXiv:2005.14165); without a `vocabulary` embedding and head are left
    out. `batch` is the number of sequences in a microbatch, `microbatches` how many of them a pipeline takes in an
    iteration, 0 for four a stage, with which the bubble is negligible (GPipe, arXiv:1811.06965); `bytes` is the size of
    an activation or gradient, 2 as in 16-bit formats. `weights` multiply what is sent within the groups of a degree,
    such as {"tp": 2.0}.
    """

    tp: int = 1
    cp: int = 1
    ep: int = 1
    dp: int = 1
    pp: int = 1
    layers: int = 96
    hidden: int = 12288
    sequence: int = 2048
    vocabulary: int = 0
    experts: int = 0
    top_k: int = 0
    batch: int = 1
    microbatches: int = 0
    bytes: int = 2
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise InputError of `tasks` unless stages have as many layers, and ranks as many tokens and experts."""
        for name, degree in (("layers", "pp"), ("sequence", "cp"), ("experts", "ep")):
            whole, part = getattr(self, name), getattr(self, degree)
            if part > 1 and (whole % part or not whole):
                raise InputError("tasks", f"expected {name} as a multiple of {degree}={part}, got {whole}")
        if self.replicas % self.ep:
            raise InputError("tasks", f"expected ep as a divisor of cp x dp = {self.replicas}, got {self.ep}")
        if self.top_k > self.experts:
            raise InputError("tasks", f"expected top_k up to {self.experts} (experts), got {self.top_k}")

    @property
    def replicas(self) -> int:
        """Return the number of ranks that hold the same weights, but for experts."""
        return self.cp * self.dp

    @property
    def copies(self) -> int:
        """Return the number of experts that a token takes."""
        return self.top_k or min(2, self.experts)

    @property
    def ranks(self) -> int:
        """Return the number of ranks."""
        return self.tp * self.replicas * self.pp

    @property
    def tokens(self) -> int:
        """Return the tokens of all microbatches of a pipeline."""
        return (self.microbatches or 4 * self.pp) * self.batch * self.sequence

    @property
    def activation_bytes(self) -> float:
        """Return the bytes of the activations between two layers, over all microbatches of a pipeline."""
        return float(self.tokens * self.hidden * self.bytes)

    @property
    def reduced_bytes(self) -> FloatArray:
        """Return the bytes that each stage all-reduces among tensor-parallel ranks, over all microbatches."""
        copies = self.copies if self.ep > 1 else 1
        reduced = np.full(self.pp, 2 * (1 + copies) * self.activation_bytes * (self.layers // self.pp))
        if self.vocabulary:
            reduced[0] += self.activation_bytes
            reduced[-1] += self.activation_bytes + LOGIT_BYTES * self.tokens
        return reduced / self.cp

    @property
    def expert_gradient_bytes(self) -> float:
        """Return the bytes of the gradients of the feed-forward blocks on a rank."""
        blocks = max(self.experts, 1) / self.ep * (self.layers // self.pp)
        return blocks * (8 * self.hidden**2 + 5 * self.hidden) * self.bytes / self.tp

    @property
    def shared_gradient_bytes(self) -> FloatArray:
        """Return the bytes of the other gradients on a rank of each stage."""
        layer = 4 * self.hidden**2 + 8 * self.hidden + self.hidden * self.experts
        weights = np.full(self.pp, float(layer * (self.layers // self.pp)))
        if self.vocabulary:
            weights[0] += (self.vocabulary + self.sequence) * self.hidden
            weights[-1] += (self.vocabulary + 2) * self.hidden
        return weights * self.bytes / self.tp

    def weight(self, degree: str) -> float:
        """Return the weight of what is sent within the groups of a degree."""
        return self.weights.get(degree, 1.0)


def train(shape: TrainingPattern) -> Pattern:
    """Send what one iteration of Megatron-LM sends, in bytes, by the formulas of this module.

    Raises InputError of `tasks` for more ranks or messages than there may be.
    """
    kinds = (_send_tensor, _send_context, _send_experts, _send_pipeline, _send_data)
    t, c, e, d = shape.tp, shape.cp, shape.ep, shape.dp
    rounds = (t > 1) + (c > 1) + (c * d > 1) + (1 < e < c * d)
    messages = shape.ranks * (rounds + e - 1) + 2 * (shape.ranks - t * c * d)

    def list_blocks() -> Iterator[Block]:
        grid = np.arange(shape.ranks).reshape(shape.pp, d, c, t)
        for send in kinds:
            yield from send(shape, grid)

    return Pattern(shape.ranks, messages, list_blocks)


def _send_tensor(shape: TrainingPattern, grid: IntArray) -> Iterator[Block]:
    """List the messages of tensor-parallel ranks."""
    if shape.tp > 1:
        yield from _send_rounds(grid, 3, shape.weight("tp") * shape.reduced_bytes * 2 * (shape.tp - 1) / shape.tp)


def _send_context(shape: TrainingPattern, grid: IntArray) -> Iterator[Block]:
    """List the messages of context-parallel ranks: keys and values in both passes, and their gradients."""
    if shape.cp > 1:
        block = 2 * shape.activation_bytes / (shape.cp * shape.tp) * (shape.layers // shape.pp)
        yield *_send_round(grid, 2), shape.weight("cp") * 3 * block * (shape.cp - 1)


def _send_experts(shape: TrainingPattern, grid: IntArray) -> Iterator[Block]:
    """List the messages of expert-parallel ranks: tokens to experts and back, in both passes."""
    if shape.ep > 1:
        tokens = shape.copies * shape.activation_bytes / (shape.cp * shape.tp) * (shape.layers // shape.pp)
        groups = np.moveaxis(_split_experts(shape, grid), 2, 3).reshape(-1, shape.ep)
        yield *pair_all(groups), shape.weight("ep") * 4 * tokens / shape.ep


def _send_pipeline(shape: TrainingPattern, grid: IntArray) -> Iterator[Block]:
    """List the messages between stages."""
    if shape.pp > 1:
        share = shape.weight("pp") * shape.activation_bytes / (shape.cp * shape.tp)
        yield grid[:-1].ravel(), grid[1:].ravel(), share
        yield grid[1:].ravel(), grid[:-1].ravel(), share


def _send_data(shape: TrainingPattern, grid: IntArray) -> Iterator[Block]:
    """List the messages of ranks with the same weights, and of those with the same experts where others have others."""
    gradients, experts, same = shape.shared_gradient_bytes, shape.expert_gradient_bytes, shape.replicas
    if same > 1:
        whole = gradients if shape.ep > 1 else gradients + experts
        flat = grid.reshape(shape.pp, same, shape.tp)
        yield from _send_rounds(flat, 1, shape.weight("dp") * whole * 2 * (same - 1) / same)
    alike = same // shape.ep
    if 1 < alike < same:
        yield *_send_round(_split_experts(shape, grid), 1), shape.weight("dp") * experts * 2 * (alike - 1) / alike


def _split_experts(shape: TrainingPattern, grid: IntArray) -> IntArray:
    """Return the grid of ranks as layers with experts see it, [stages, replicas of experts, experts' ranks, tensor]."""
    return grid.reshape(shape.pp, shape.replicas // shape.ep, shape.ep, shape.tp)


def _send_rounds(grid: IntArray, axis: int, volumes: FloatArray) -> Iterator[Block]:
    """List the messages on rings along an axis, of a volume for each stage."""
    for volume in np.unique(volumes).tolist():
        stages: BoolArray = volumes == volume
        yield *_send_round(grid[stages], axis), volume


def _send_round(grid: IntArray, axis: int) -> tuple[IntArray, IntArray]:
    """Return all ranks, and behind each the next on the ring along an axis."""
    return grid.ravel(), np.roll(grid, -1, axis).ravel()
