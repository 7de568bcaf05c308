"""The bytes that the ranks of a distributed training send each other in one iteration."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.patterns.messages import Block, Pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Hold how a transformer is trained: the degrees of tensor, pipeline and data parallelism, and its sizes.

    `layers`, `hidden` and `sequence` default to those of GPT-3 with 175 billion parameters (arXiv:2005.14165). `batch`
    is the number of sequences in a microbatch, `microbatches` how many of them a pipeline takes in an iteration, 0 for
    four a stage, with which the bubble is negligible (GPipe, arXiv:1811.06965); `bytes` is the size of an activation or
    gradient, 2 as in 16-bit formats.
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1
    layers: int = 96
    hidden: int = 12288
    sequence: int = 2048
    batch: int = 1
    microbatches: int = 0
    bytes: int = 2

    def __post_init__(self) -> None:
        """Raise InputError of `tasks` unless every stage has as many layers."""
        if self.layers % self.pp:
            raise InputError("tasks", f"expected layers as a multiple of pp={self.pp}, got {self.layers}")

    @property
    def activation_bytes(self) -> float:
        """Return the bytes of the activations between two layers, over all microbatches of a pipeline."""
        return float((self.microbatches or 4 * self.pp) * self.batch * self.sequence * self.hidden * self.bytes)

    @property
    def gradient_bytes(self) -> float:
        """Return the bytes of the gradients on a rank: of 12 h^2 weights a layer, shared by the stage's ranks."""
        return 12.0 * self.layers * self.hidden**2 * self.bytes / (self.pp * self.tp)


def train(shape: Shape) -> Pattern:
    r"""Send what one iteration of Megatron-LM sends, in bytes.

    With t, p and d ranks for tensor, pipeline and data parallelism and \(A\) bytes of activations, the ranks of a
    tensor-parallel group all-reduce twice a layer in the forward and twice in the backward pass: on a ring each sends
    \(8 A (t - 1) / t\) a layer of its stage to the next. Each rank sends its share \(A / t\) to its like in the next
    stage, and gets as many back. The ranks that hold the same weights all-reduce their gradients \(G\): each sends
    \(2 G (d - 1) / d\) to the next. Embeddings, biases and norms are left out. Rank order: `tp` fastest, then `dp`,
    then `pp`, as by default in Megatron-LM (`tp-cp-ep-dp-pp`). Raises InputError of `tasks` for more ranks or messages
    than there may be.

    Source: Narayanan et al. 2021, sections 2.3, 3 and 4.1, arXiv:2104.04473.
    """
    t, p, d = shape.tp, shape.pp, shape.dp
    ranks = t * p * d
    messages = ranks * ((t > 1) + (d > 1)) + 2 * (ranks - t * d)

    def list_blocks() -> Iterator[Block]:
        grid = np.arange(ranks).reshape(p, d, t)
        if t > 1:
            volume = 8 * shape.activation_bytes * (t - 1) / t * (shape.layers // p)
            yield *_send_round(grid, axis=2), volume
        if p > 1:
            share = shape.activation_bytes / t
            yield grid[:-1].ravel(), grid[1:].ravel(), share
            yield grid[1:].ravel(), grid[:-1].ravel(), share
        if d > 1:
            yield *_send_round(grid, axis=1), 2 * shape.gradient_bytes * (d - 1) / d

    return Pattern(ranks, messages, list_blocks)


def _send_round(grid: IntArray, *, axis: int) -> tuple[IntArray, IntArray]:
    """Return all ranks, and behind each the next on the ring along an axis."""
    return grid.ravel(), np.roll(grid, -1, axis).ravel()
