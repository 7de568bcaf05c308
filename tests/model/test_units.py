"""Tests of amounts as a person reads them."""

import pytest

from tiger.model.units import SIZES, bytes_text, seconds_text, unit_of


@pytest.mark.parametrize(("seconds", "text"), [(0.0, "0 µs"), (2e-6, "2 µs"), (0.99, "990 ms"), (61652.4, "61,652 s")])
def test_times_are_written_in_the_unit_that_suits_them(seconds: float, text: str) -> None:
    """From microseconds to seconds."""
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0.0, "0 B"), (0.5, "0.5 B"), (999.0, "999 B"), (155e3, "155 kB"), (80e9, "80 GB"), (1e15, "1,000 TB")],
)
def test_sizes_are_written_in_the_unit_that_suits_them(size: float, text: str) -> None:
    """From bytes to terabytes."""
    assert bytes_text(size) == text


def test_the_largest_unit_that_leaves_a_whole_one_is_chosen() -> None:
    """The smallest one for less than any of them."""
    assert unit_of(1e6, SIZES) == ("MB", 1e6)
    assert unit_of(0.0, SIZES) == ("B", 1.0)
