"""Where llama.cpp puts a model that is given the flags of a command, by the rules of its documentation."""

import re
import shlex
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

CPU = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class LlamaSplit:
    """Hold the index of the GPU, or -1, of every decoder layer and of the head, and of the experts of each layer.

    `context` is what all `parallel` sequences have together, 0 where that is the model's.
    """

    layers: tuple[int, ...]
    head: int
    experts: tuple[int, ...]
    context: int
    parallel: int


def parse(text: str, decoders: int) -> LlamaSplit:
    """Return where the layers of a model of so many decoder layers are."""
    code = [line for line in text.splitlines() if not line.startswith("#")]
    words = shlex.split("\n".join(code).replace("\\\n", " "))
    gpus = [int(gpu) for gpu in _after(words, "CUDA_VISIBLE_DEVICES=").split(",") if gpu]
    flags = dict(pairwise(words))
    asked = int(flags["-ngl"])
    parts = [float(part) for part in flags.get("-ts", "1").split(",")]
    assert len(parts) <= len(gpus) or not asked
    # Parts are added up and divided by their sum in single precision.
    sums = [np.float32(total) for total in accumulate(parts)]
    splits = [total / sums[-1] for total in sums]
    first, active = max(decoders + 1 - asked, 0), min(asked, decoders + 1)
    slots = [
        CPU if at < first else gpus[bisect_right(splits, np.float32(at - first) / np.float32(active))]
        for at in range(decoders + 1)
    ]
    pattern = re.compile(flags["-ot"].removesuffix("=CPU")) if "-ot" in flags else None
    names = [f"blk.{at}.ffn_{part}_exps.weight" for at in range(decoders) for part in ("up", "gate", "down")]
    moved = [bool(pattern and pattern.search(name)) for name in names]
    assert not (pattern and pattern.search("blk.0.attn_q.weight"))
    assert all(len(set(moved[at : at + 3])) == 1 for at in range(0, len(moved), 3))
    experts = tuple(CPU if moved[3 * at] else slots[at] for at in range(decoders))
    return LlamaSplit(
        layers=tuple(slots[:-1]),
        head=slots[-1],
        experts=experts,
        context=int(flags.get("-c", 0)),
        parallel=int(flags.get("--parallel", 1)),
    )


def _after(words: list[str], prefix: str) -> str:
    """Return what follows a prefix in the one word that has it."""
    return next(word.removeprefix(prefix) for word in words if word.startswith(prefix))
