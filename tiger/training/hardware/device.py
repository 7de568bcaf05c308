"""Types of devices: kind, memory and speed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from tiger.errors import InputError
from tiger.formats.quantity import convert_quantity
from tiger.model.units import GIGABYTE
from tiger.model.values import check_amount, check_positive, check_whole, suggest_name
from tiger.model.wording import describe
from tiger.training.hardware.accelerators import ACCELERATORS, H100, TERA, Accelerator
from tiger.training.hardware.cluster import DEVICE_LIMIT, DeviceKind
from tiger.training.hardware.limits import COST_LIMIT

# Fields of a machine: its NICs, and whether its switch adds up what devices send it.
NICS, IN_SWITCH = "nics", "in_switch_reduction"
# Of Hopper's links, what GPUs reach through a switch that adds up (NCCL 2.28, src/graph/tuning.cc).
IN_SWITCH_SHARE = 0.85
# Of a device without a type: its peak in 16 bits and the bandwidth of its memory.
RATES = ("flops", "memory_bandwidth")
DEVICE_FIELDS = ("kind", "type", "memory_bytes", "speed", *RATES)
_KINDS: tuple[DeviceKind, ...] = get_args(DeviceKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceType:
    """Hold the kind of a device, its memory in bytes (default: no limit) and its speed, which divides times.

    `accelerator` is what it is known as, None where nobody says.
    """

    kind: DeviceKind = "accelerator"
    memory_bytes: float = math.inf
    speed: float = 1.0
    accelerator: Accelerator | None = None


def device_type(field: str, fields: Mapping[str, object]) -> DeviceType:
    """Return the type that the fields of an object state; each may be missing.

    `type` is the name of one that is known, with its memory and speed; `flops` and `memory_bandwidth` make another.
    """
    room, speed = f"{field}/memory_bytes", fields.get("speed")
    memory = convert_quantity(room, fields.get("memory_bytes"), "bytes")
    known = _accelerator(field, fields)
    usual_bytes, usual_speed = (math.inf, 1.0) if known is None else (known.memory_bytes or math.inf, known.speed)
    return DeviceType(
        kind=_kind(f"{field}/kind", fields.get("kind", "accelerator")),
        memory_bytes=check_amount(room, memory) if "memory_bytes" in fields else usual_bytes,
        speed=_speed(f"{field}/speed", speed) if "speed" in fields else usual_speed,
        accelerator=known,
    )


def read_share(field: str, value: object) -> float:
    """Return the part of links that a switch reaches which adds up: a number up to 1, or true for that of an H100."""
    if isinstance(value, bool):
        return IN_SWITCH_SHARE if value else 0.0
    share = check_positive(field, value)
    if share > 1:
        raise InputError(field, f"expected true, false or a number above 0 and up to 1, got {describe(value)}")
    return share


def check_count(field: str, value: object) -> int:
    """Return a whole number >= 1 or raise InputError."""
    count = check_whole(field, value)
    if count < 1:
        raise InputError(field, "expected a whole number >= 1, got 0")
    # Beyond the limit in any case; cut, so that products stay exact.
    return min(count, DEVICE_LIMIT + 1)


def _accelerator(field: str, fields: Mapping[str, object]) -> Accelerator | None:
    """Return what a device is known as, or made of its rates, None where neither is given; raise InputError."""
    given = [name for name in RATES if name in fields]
    if "type" in fields:
        name = fields["type"]
        if given:
            raise InputError(f"{field}/{given[0]}", "expected either this field or type, got both")
        if not isinstance(name, str) or name not in ACCELERATORS:
            known = ", ".join(ACCELERATORS)
            hint = suggest_name(name, ACCELERATORS) if isinstance(name, str) else ""
            raise InputError(f"{field}/type", f"expected one of {known}, got {describe(name)}{hint}")
        return ACCELERATORS[name]
    if not given:
        return None
    if len(given) < len(RATES):
        raise InputError(f"{field}/{given[0]}", f"expected {' and '.join(RATES)} together, got one of them")
    flops = check_positive(f"{field}/flops", fields["flops"])
    room = f"{field}/memory_bandwidth"
    bandwidth = check_positive(room, convert_quantity(room, fields["memory_bandwidth"], "bytes/s"))
    if not 1 / COST_LIMIT <= bandwidth <= COST_LIMIT:
        limits = f"from {1 / COST_LIMIT:g} to {COST_LIMIT:g}"
        raise InputError(room, f"expected a number {limits}, got {describe(fields['memory_bandwidth'])}")
    made = Accelerator(name="", memory_gb=0, tflops=flops / TERA, bandwidth_gb=bandwidth / GIGABYTE)
    _speed(f"{field}/flops", made.tflops / H100.tflops)
    return made


def _speed(field: str, value: object) -> float:
    """Return a speed that times can be divided by, or raise InputError."""
    speed = check_positive(field, value)
    if not 1 / COST_LIMIT <= speed <= COST_LIMIT:
        raise InputError(field, f"expected a speed from {1 / COST_LIMIT:g} to {COST_LIMIT:g}, got {describe(value)}")
    return speed


def _kind(field: str, value: object) -> DeviceKind:
    """Return a kind of device or raise InputError."""
    for kind in _KINDS:
        if value == kind:
            return kind
    raise InputError(field, f"expected {' or '.join(_KINDS)}, got {describe(value)}")
