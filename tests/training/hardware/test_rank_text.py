"""Devices of a stage in a few words."""

import pytest

from tiger.training.hardware.rank_text import short_ranks


@pytest.mark.parametrize(
    ("devices", "text"),
    [
        ([["x"]], "x"),
        ([["m0.gpu0", "m0.gpu1", "m0.gpu2", "m0.gpu3"]], "m0.gpu0-3"),
        ([["m0.gpu0", "m0.gpu1"], ["m1.gpu0", "m1.gpu1"]], "m0.gpu0-1; m1.gpu0-1"),
        ([["g0"], ["g1"], ["h1"]], "g0-1, h1"),
        ([["n08", "n09", "n10", "n9"]], "n08-10, n9"),
        ([["g1", "g0"]], "g1, g0"),
        ([["x", "y"], ["z", "w"]], "x, y; z, w"),
        ([["a", "b", "c"], ["d", "g0", "g1"]], "a, b, c; d and 2 more"),
        ([["a", "b", "c", "d"], ["e", "f", "g", "h"]], "a, b, c, d and 4 more"),
        ([["7" * 5000, "8"]], f"{'7' * 5000}, 8"),
    ],
)
def test_devices_whose_numbers_follow_each_other_are_a_span(devices: list[list[str]], text: str) -> None:
    """Replicas are apart, unless every device is one."""
    assert short_ranks(devices) == text
