"""Tests of amounts as a person reads them."""

import pytest

from tiger.model.units import SIZES, bytes_text, milliseconds_text, number_text, seconds_text, unit_of


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


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.1 + 0.2, "0.3"), (1234567.0, "1234567"), (3, "3"), ("x", "x")]
)
def test_numbers_keep_ten_digits(value: str | float | None, text: str) -> None:
    """Neither rounding noise nor an exponent hides what a cost is."""
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "-"), (float("inf"), "-"), (0.0123456789, "12.3457 ms"), (2.0, "2000 ms")]
)
def test_milliseconds_keep_six_digits(seconds: float | None, text: str) -> None:
    """What is not known or has no end is a dash."""
    assert milliseconds_text(seconds) == text
