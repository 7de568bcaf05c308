"""Whole numbers with runs in short."""

import pytest

from tiger.placement.emission.ranges import ranges


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([3], "3"), ([0, 1, 2], "0-2"), ([0, 2, 3, 7, 8, 9], "0, 2-3, 7-9")],
)
def test_runs_are_written_by_their_ends(numbers: list[int], text: str) -> None:
    """Others by themselves."""
    assert ", ".join(ranges(numbers)) == text
