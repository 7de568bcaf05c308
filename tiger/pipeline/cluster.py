"""The cluster: devices, and how long a message takes from one to another."""

from dataclasses import dataclass, field
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray, amounts, frozen, unique_names, unstated

DeviceKind = Literal["accelerator", "cpu"]
NO_LINK = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """Say how long messages take, by a table: `size_bytes[k]` rising strictly, `seconds[k]` not falling, k >= 2.

    Sizes in between are interpolated, those beyond the table follow its last two entries, those before it take as
    long as the first.
    """

    size_bytes: FloatArray
    seconds: FloatArray

    def __post_init__(self) -> None:
        """Check every bound and make the arrays read-only."""
        count = len(self.size_bytes)
        if count < 2:
            raise InputError("cluster/links/table", f"expected at least two pairs of size and time, got {count}")
        for name in ("size_bytes", "seconds"):
            object.__setattr__(self, name, amounts(f"cluster/links/table/{name}", getattr(self, name), count))
        if (np.diff(self.size_bytes) <= 0).any():
            raise InputError("cluster/links/table", "expected sizes that rise")
        if (np.diff(self.seconds) < 0).any():
            raise InputError("cluster/links/table", "expected times that do not fall")

    @classmethod
    def affine(cls, bandwidth: float, latency_s: float) -> Self:
        """Return the curve of a latency and of bytes per second."""
        return cls(size_bytes=np.array([0.0, 1e9]), seconds=np.array([latency_s, latency_s + 1e9 / bandwidth]))

    def of(self, size_bytes: ArrayLike) -> FloatArray:
        """Return the seconds of messages, 0 for those of 0 bytes."""
        size = np.asarray(size_bytes, np.float64)
        (before, last), (early, late) = self.size_bytes[-2:], self.seconds[-2:]
        beyond = late + (size - last) * (late - early) / (last - before)
        within = np.interp(size, self.size_bytes, self.seconds)
        return np.where(size == 0, 0.0, np.where(size > last, beyond, within))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cluster:
    """Hold n devices; messages from a to b take `curves[link[a, b]]`, and cannot go where `link[a, b]` is -1.

    `speed[n]` > 0 divides times, `memory_bytes[n]` may be infinite, `kinds` are accelerator (default) or cpu, and
    `machine[n]` (default: all 0) tells which devices share a machine. `link[n, n]` is symmetric.
    """

    names: tuple[str, ...]
    speed: FloatArray
    memory_bytes: FloatArray
    curves: tuple[Curve, ...]
    link: IntArray
    kinds: tuple[DeviceKind, ...] = ()
    machine: IntArray = field(default_factory=unstated)

    def __post_init__(self) -> None:
        """Check every bound and make the arrays read-only; raise InputError that names the field."""
        names = unique_names("cluster/devices", self.names)
        size = len(names)
        speed = amounts("cluster/devices/speed", self.speed, size)
        if (speed == 0).any():
            raise InputError("cluster/devices/speed", "expected numbers > 0, got 0")
        memory = np.asarray(self.memory_bytes, np.float64)
        if memory.shape != (size,) or not (memory >= 0).all():
            raise InputError("cluster/devices/memory_bytes", f"expected {size} numbers >= 0")
        kinds = tuple(self.kinds) or ("accelerator",) * size
        if len(kinds) != size or not set(kinds) <= set(get_args(DeviceKind)):
            raise InputError("cluster/devices/kind", f"expected {size} of {', '.join(get_args(DeviceKind))}")
        link = np.asarray(self.link, np.int64)
        if link.shape != (size, size) or (link != link.T).any() or not (link < len(self.curves)).all():
            raise InputError("cluster/links", f"expected a symmetric table of {size} x {size} curves")
        machine = np.asarray(self.machine if len(self.machine) else np.zeros(size), np.int64)
        values = {"names": names, "speed": speed, "memory_bytes": frozen(memory), "kinds": kinds}
        for name, value in (values | {"link": frozen(link), "machine": frozen(machine)}).items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """Return n, the number of devices."""
        return len(self.names)

    def seconds(self, a: int, b: int, size_bytes: ArrayLike) -> FloatArray:
        """Return how long messages take from device a to device b: 0 within one, infinite without a link."""
        size = np.asarray(size_bytes, np.float64)
        if a == b:
            return np.zeros(size.shape)
        curve = int(self.link[a, b])
        return np.where(size > 0, np.inf, 0.0) if curve == NO_LINK else self.curves[curve].of(size)
