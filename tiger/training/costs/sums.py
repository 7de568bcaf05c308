"""What layers hold and send, added up by the stages and positions between cuts."""

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.costs.stage_positions import StageStyle, stage_positions, stages_by_position
from tiger.training.models.layers import Layers


def state_bytes(layers: Layers, cuts: tuple[int, ...]) -> FloatArray:
    """Return the bytes that stages hold all the time; of tied layers in one stage the first alone counts."""
    sums = np.add.reduceat(layers.state_bytes, np.array(cuts[:-1]))
    for group in layers.tied:
        stages = np.searchsorted(cuts, group, side="right") - 1
        for member, stage in list(zip(group, stages, strict=True))[1:]:
            if (stages[: group.index(member)] == stage).any():
                sums[stage] -= layers.state_bytes[member]
    return sums


def working_bytes(layers: Layers, cuts: tuple[int, ...], positions: int, style: StageStyle = "loop") -> FloatArray:
    """Return the most that each position holds for one of its layers while it is at work."""
    stages = np.maximum.reduceat(layers.working_bytes, np.array(cuts[:-1]))
    return np.asarray(stages[stages_by_position(style, positions, len(stages))].max(axis=0))


def position_sums(
    layers: Layers, size_bytes: FloatArray, cuts: tuple[int, ...], positions: int, style: StageStyle = "loop"
) -> FloatArray:
    """Return the bytes of each position's layers; of tied layers at one position the first alone counts."""
    stages = np.add.reduceat(size_bytes, np.array(cuts[:-1]))
    sums = stages[stages_by_position(style, positions, len(stages))].sum(axis=0)
    for group in layers.tied:
        places = stage_positions(style, positions, len(stages))[np.searchsorted(cuts, group, side="right") - 1]
        for k, member in enumerate(group):
            if (places[:k] == places[k]).any():
                sums[places[k]] -= size_bytes[member]
    return np.asarray(np.maximum(sums, 0.0))
