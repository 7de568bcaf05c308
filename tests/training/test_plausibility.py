"""Tests of warnings about numbers in another unit."""

import pytest

import tiger
from tiger.training.hardware.reading import cluster_of_document

LAYER = {"forward_s": "1ms", "backward_s": "2 ms", "parameter_bytes": 8, "activation_bytes": "1MB"}
MODEL = {"layers": [{"name": "a"} | LAYER, {"name": "b"} | LAYER]}
LIKELY = {"uniform_bandwidth": "200Gb/s", "uniform_latency": "25 us"}


def warnings(**stated: object) -> tuple[str, ...]:
    """Return the warnings of a placement on two devices."""
    memory = {"memory_bytes": stated.pop("memory_bytes")} if "memory_bytes" in stated else {}
    devices = [{"name": name} | memory for name in "xy"]
    return tiger.place(MODEL, {"devices": devices, **LIKELY, **stated}).warnings


@pytest.mark.parametrize(
    ("stated", "slip"),
    [
        ({"memory_bytes": 80}, "device 'x' and 1 more: 80 bytes of memory; did you mean '80GB'?"),
        ({"uniform_bandwidth": 200}, "a link of 200 bytes/s; did you mean '200GB/s' or '200Gb/s'?"),
        ({"uniform_latency": 25}, "a link of 25 s latency; did you mean '25us'?"),
    ],
)
def test_bug_a_likely_slip_is_named(stated: dict[str, object], slip: str) -> None:
    """A number meant in another unit is used as it is, with a warning."""
    assert slip in warnings(**stated)


def test_likely_numbers_are_passed_over() -> None:
    """And state that is not told counts where memory has an end alone."""
    assert warnings() == ()
    assert ["no state_bytes" in each for each in warnings(memory_bytes="80GB")] == [True]


def test_units_are_those_of_numbers() -> None:
    """Memory in binary units, and a table of times."""
    table = [["1kB", "1us"], ["1MB", "1ms"]]
    document = {"devices": [{"name": "x", "memory_bytes": "1GiB"}, {"name": "y"}], "uniform_table": table}
    cluster = cluster_of_document(document)
    assert cluster.memory_bytes[0] == 2**30
    assert cluster.curves[0].seconds.tolist() == [1e-6, 1e-3]


def test_bug_the_nearest_known_field_is_named() -> None:
    """Of a field that is misspelt."""
    with pytest.raises(tiger.InputError, match="did you mean 'memory_bytes'"):
        cluster_of_document({"devices": [{"name": "x", "memory_byte": 80}]})
