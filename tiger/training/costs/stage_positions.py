"""At which position of a pipeline each stage runs, where positions have several."""

from functools import lru_cache
from typing import Literal

import numpy as np

from tiger.model.arrays import IntArray, lock

# Round after round from the first position to the last, as interleaved stages do, or there and back again, so that the
# first position has the first stage and the last: `loop` and `v` of torch.distributed.pipelining. A `mirror` has a
# second pipeline of the same stages from the last position to the first, whose stages come behind those of the first.
StageStyle = Literal["loop", "v", "mirror"]
# Shapes that are kept: an evaluation asks for one again and again.
KEPT_SHAPES = 64


@lru_cache(maxsize=KEPT_SHAPES)
def stages_by_position(style: StageStyle, positions: int, stages: int) -> IntArray:
    """Return the stages `[v, p]` of p positions, v each, a round in each row; `stages` is v p."""
    rounds = np.arange(stages).reshape(-1, positions)
    if style != "loop":
        rounds[1::2] = rounds[1::2, ::-1].copy()
    return lock(rounds)


@lru_cache(maxsize=KEPT_SHAPES)
def stage_positions(style: StageStyle, positions: int, stages: int) -> IntArray:
    """Return the position `[S]` of each of S stages."""
    at = np.empty(stages, np.int64)
    at[stages_by_position(style, positions, stages)] = np.arange(positions)
    return lock(at)
