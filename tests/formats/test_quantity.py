"""Tests of quantities with units."""

import pytest

from tiger.errors import InputError
from tiger.formats.quantity import Dimension, convert_quantity


@pytest.mark.parametrize(
    ("text", "dimension", "number"),
    [
        ("80GB", "bytes", 80e9),
        ("80 GiB", "bytes", 80 * 2**30),
        ("1.5kB", "bytes", 1500),
        ("200Gb/s", "bytes/s", 25e9),
        ("200 Gbps", "bytes/s", 25e9),
        ("25GB/s", "bytes/s", 25e9),
        ("25 us", "seconds", 25e-6),
        ("25\u00b5s", "seconds", 25e-6),
        ("3 ms", "seconds", 3e-3),
        ("2.e1s", "seconds", 20),
        (8, "bytes", 8),
        (None, "bytes", None),
    ],
)
def test_quantities_are_exact(text: object, dimension: Dimension, number: object) -> None:
    """To the nearest number of float64; numbers stay as they are."""
    assert convert_quantity("f", text, dimension) == number


@pytest.mark.parametrize(
    ("text", "what"),
    [("80Gb", "in bits"), ("3ms", "in seconds"), ("80", "got '80'"), ("80 parsec", "unknown unit"), ("-1GB", "'-1GB'")],
)
def test_what_is_no_such_quantity_is_named(text: str, what: str) -> None:
    """Bits are no memory, and a number in text needs a unit."""
    with pytest.raises(InputError, match=what) as caught:
        convert_quantity("cluster/devices/0/memory_bytes", text, "bytes")
    assert caught.value.field == "cluster/devices/0/memory_bytes"
