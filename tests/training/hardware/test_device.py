"""Tests of types of devices."""

import math

import pytest

from tiger.errors import InputError
from tiger.training.hardware.device import DeviceType, device_type


def test_defaults():
    """Without any field a device is an accelerator of speed 1, its memory without a limit."""
    assert device_type("at", {}) == DeviceType(kind="accelerator", memory_bytes=math.inf, speed=1.0)


def test_fields():
    """Every field is taken as stated."""
    fields = {"kind": "cpu", "memory_bytes": 5, "speed": 0.5}
    assert device_type("at", fields) == DeviceType(kind="cpu", memory_bytes=5.0, speed=0.5)


@pytest.mark.parametrize(
    "fields", [{"kind": "tpu"}, {"memory_bytes": -1}, {"memory_bytes": None}, {"speed": 0}, {"speed": 5e-324}]
)
def test_odd_fields(fields):
    """Other kinds, less than no memory and no speed are bad input, by the name of the field."""
    with pytest.raises(InputError) as caught:
        device_type("at", fields)
    assert caught.value.field == f"at/{next(iter(fields))}"


@pytest.mark.parametrize("flops", [4e10, 6e10])
def test_bug_slow_devices_have_the_speed_of_their_rate(flops):
    """A core of 40 GFLOP/s is slower than an H100 by as much, and not of speed 0 by rounding."""
    made = device_type("at", {"kind": "cpu", "flops": flops, "memory_bandwidth": "20GB/s"})
    assert made.speed == pytest.approx(flops / 989.4e12)


@pytest.mark.parametrize("bandwidth", [1e-300, 1e300])
def test_bug_rates_of_memory_without_bounds(bandwidth):
    """Times by it would be infinite or nothing, and speeds with them."""
    with pytest.raises(InputError) as caught:
        device_type("at", {"flops": 1e12, "memory_bandwidth": bandwidth})
    assert caught.value.field == "at/memory_bandwidth"
