"""Whole numbers as people write them: runs in short."""

from collections.abc import Sequence
from itertools import groupby


def ranges(numbers: Sequence[int]) -> list[str]:
    """Return rising whole numbers as text, those that follow each other as `first-last`."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return [f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs]
