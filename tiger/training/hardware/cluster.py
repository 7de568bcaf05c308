"""The cluster: devices, and the seconds of messages between them."""

from dataclasses import dataclass, field
from typing import Literal, Self, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray, check_amounts, check_names, freeze, lock, unset_array
from tiger.model.wording import describe
from tiger.training.hardware.accelerators import Accelerator
from tiger.training.hardware.limits import COST_LIMIT
from tiger.training.hardware.ring_orders import RingOrders

DeviceKind = Literal["accelerator", "cpu"]
# Stands for the curve of two devices that are not linked.
NO_LINK = -1
# Tables [n, n] of 64-bit numbers take half a gigabyte each at this size.
DEVICE_LIMIT = 8_192
# A message by which links are ranked: of so many bytes a latency of 10 us is no part, up to 10 TB/s.
LARGE_BYTES = 1e9
# Rows at a time, so that blocks of tables stay in the cache.
_BLOCK = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """Hold how long messages take, by a table: `size_bytes[k]` rising strictly, `seconds[k]` not falling, k >= 2.

    Sizes in between are interpolated, those beyond the table follow its last two entries, those before it take as
    long as the first. A `wire` joins two devices alone, so that messages over others of the same device go beside it.
    """

    size_bytes: FloatArray
    seconds: FloatArray
    wire: bool = False

    def __post_init__(self) -> None:
        """Check every bound and make the arrays read-only."""
        count = len(self.size_bytes)
        if count < 2:
            raise InputError("cluster/links/table", f"expected at least two pairs of size and time, got {count}")
        for name in ("size_bytes", "seconds"):
            # Adding 0 turns -0.0 into 0.0, so that equal curves are equal byte by byte.
            values = check_amounts(f"cluster/links/table/{name}", getattr(self, name), count) + 0.0
            object.__setattr__(self, name, lock(values))
        if (self.size_bytes[1:] <= self.size_bytes[:-1]).any():
            raise InputError("cluster/links/table", "expected sizes that rise")
        if (self.seconds[1:] < self.seconds[:-1]).any():
            raise InputError("cluster/links/table", "expected times that do not fall")

    @classmethod
    def affine(cls, bandwidth: float, latency_s: float, *, wire: bool = False) -> Self:
        """Return the curve of a latency and of bytes per second."""
        # So large that the latency hides no digit of the bandwidth, and within the limit of a message.
        size = min(max(1e9, latency_s * bandwidth), COST_LIMIT)
        return cls(
            size_bytes=np.array([0.0, size]), seconds=np.array([latency_s, latency_s + size / bandwidth]), wire=wire
        )

    @property
    def key(self) -> tuple[bytes, bytes, bool]:
        """Return the key of the curve: equal for two curves if and only if their tables are, and both are wires."""
        return self.size_bytes.tobytes(), self.seconds.tobytes(), self.wire

    def of(self, size_bytes: ArrayLike) -> FloatArray:
        """Return the seconds of messages, 0 for those of 0 bytes."""
        size = np.asarray(size_bytes, np.float64)
        within = np.where(size == 0, 0.0, np.interp(size, self.size_bytes, self.seconds))
        over = size > self.size_bytes[-1]
        return np.where(over, self._extrapolate(size), within) if over.any() else within

    def _extrapolate(self, size_bytes: FloatArray) -> FloatArray:
        """Return the seconds of messages on the line of the last two entries; sizes before them may give anything."""
        (before, last), (early, late) = self.size_bytes[-2:].tolist(), self.seconds[-2:].tolist()
        # Sizes near the end of float64 take infinitely long, without a warning.
        with np.errstate(over="ignore", invalid="ignore"):
            beyond: FloatArray = late + (size_bytes - last) * ((late - early) / (last - before))
        return beyond


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cluster:
    """Hold n devices; messages from a to b take `curves[link[a, b]]`, and cannot go where `link[a, b]` is -1.

    `speed[n]` > 0 divides times, `memory_bytes[n]` may be infinite, `kinds` are accelerator (default) or cpu, and
    `machine[n]` (default: all 0) is the number of a device's machine. `link[n, n]` is symmetric; its diagonal is set to
    -1, for a message within a device takes no time. `nics[n]` are the NICs of a device's machine, 0 (default) where
    every device has its own, and `reduces[n]` is the part of its links that a device has to a switch inside the machine
    that adds up what it is sent, 0 (default) without one. `types[n]` are what devices are known as, None (default)
    where nobody says. Equal curves are made one, so that equal numbers in `link` mean equal times, and different ones
    different tables. At most 8,192 devices, for the tables are dense. `remarks` are what a reader found odd, for the
    warnings of reports.
    """

    names: tuple[str, ...]
    speed: FloatArray
    memory_bytes: FloatArray
    curves: tuple[Curve, ...]
    link: IntArray
    kinds: tuple[DeviceKind, ...] = ()
    machine: IntArray = field(default_factory=unset_array)
    nics: IntArray = field(default_factory=unset_array)
    reduces: FloatArray = field(default_factory=unset_array)
    types: tuple[Accelerator | None, ...] = ()
    machines: int = field(init=False)
    own_nics: bool = field(init=False)
    remarks: tuple[str, ...] = ()
    _orders: RingOrders | None = field(default=None, init=False, repr=False, compare=False)
    _pair: tuple[int, int] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check every bound and make the arrays read-only; raise InputError that names the field."""
        check_device_count(len(self.names))
        names = check_names("cluster/devices", self.names)
        size = len(names)
        speed = check_amounts("cluster/devices/speed", self.speed, size)
        if (speed == 0).any():
            raise InputError("cluster/devices/speed", "expected numbers > 0, got 0")
        memory = np.asarray(self.memory_bytes, np.float64)
        if memory.shape != (size,) or not (memory >= 0).all():
            raise InputError("cluster/devices/memory_bytes", f"expected {size} numbers >= 0")
        kinds = tuple(self.kinds) or ("accelerator",) * size
        if len(kinds) != size or not set(kinds) <= set(get_args(DeviceKind)):
            raise InputError("cluster/devices/kind", f"expected {size} of {', '.join(get_args(DeviceKind))}")
        machine = np.asarray(self.machine if len(self.machine) else np.zeros(size), np.int64)
        if machine.shape != (size,):
            raise InputError("cluster/devices/machine", f"expected {size} numbers, got shape {machine.shape}")
        _, first, number, devices = np.unique(machine, return_index=True, return_inverse=True, return_counts=True)
        nics = np.asarray(self.nics if len(self.nics) else np.zeros(size), np.int64)
        if nics.shape != (size,) or (nics < 0).any():
            raise InputError("cluster/devices/nics", f"expected {size} whole numbers >= 0")
        nics = np.where(nics >= devices[number], 0, nics)
        curves, link = _merge_curves(tuple(self.curves), _check_table(self.link, size, len(self.curves)))
        values: dict[str, object] = {
            "names": names,
            "speed": speed,
            "memory_bytes": freeze(memory),
            "kinds": kinds,
            "curves": curves,
        }
        values |= {"machines": len(devices), "own_nics": not nics.any(), "nics": freeze(nics)}
        types = tuple(self.types) or (None,) * size
        if len(types) != size:
            raise InputError("cluster/devices/type", f"expected {size} types, got {len(types)}")
        values["types"] = types
        values["reduces"] = check_amounts(
            "cluster/devices/reduces", self.reduces if len(self.reduces) else np.zeros(size), size
        )
        for name in ("nics", "reduces"):
            each = np.asarray(values[name])
            if (each != each[first][number]).any():
                raise InputError(f"cluster/devices/{name}", "expected one number for all devices of a machine")
        for name, value in (values | {"link": freeze(link), "machine": freeze(machine)}).items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """Return n, the number of devices."""
        return len(self.names)

    @property
    def most_nics(self) -> int:
        """Return the most NICs that the devices of any machine use at once."""
        _, number, devices = np.unique(self.machine, return_inverse=True, return_counts=True)
        return int(np.where(self.nics > 0, self.nics, devices[number]).max())

    @property
    def most_wires(self) -> float:
        """Return how many times the rate of a wire all those of a device may have; 1 without wires."""
        if not any(curve.wire for curve in self.curves):
            return 1.0
        # Of no curve, number -1, is the last entry.
        seconds = np.array([*(float(curve.of(LARGE_BYTES)) if curve.wire else np.inf for curve in self.curves), np.inf])
        slowest = seconds[np.isfinite(seconds)].max(initial=0.0)
        return max(float((slowest / seconds[self.link]).sum(axis=1).max()), 1.0)

    @property
    def ring_orders(self) -> RingOrders:
        """Return the orders in which rings visit devices."""
        if self._orders is None:
            # Links rank by large messages, for which the order counts.
            seconds = np.array([*(float(curve.of(LARGE_BYTES)) for curve in self.curves), np.inf])
            wire = np.array([*(curve.wire for curve in self.curves), False])
            object.__setattr__(self, "_orders", RingOrders(seconds[self.link], self.machine, wire[self.link]))
        return cast(RingOrders, self._orders)

    @property
    def only_links(self) -> tuple[int, int]:
        """Return the numbers of the only link inside machines and of the only one between them.

        NO_LINK where there is none, and for both NO_LINK - 1 where there are several or wires: then nothing is alike.
        """
        if self._pair is None:
            same = self.machine[:, None] == self.machine
            between = np.unique(self.link[~same])
            np.fill_diagonal(same, val=False)
            inside = np.unique(self.link[same])
            wires = any(self.curves[link].wire for link in inside[inside != NO_LINK].tolist())
            several = max(len(inside), len(between)) > 1 or wires
            pair = [int(each[0]) if len(each) else NO_LINK for each in (inside, between)]
            object.__setattr__(self, "_pair", (NO_LINK - 1, NO_LINK - 1) if several else tuple(pair))
        return cast(tuple[int, int], self._pair)

    def seconds(self, a: int, b: int, size_bytes: ArrayLike) -> FloatArray:
        """Return how long messages take from device a to device b: 0 within one, infinite without a link."""
        size = np.asarray(size_bytes, np.float64)
        if a == b:
            return np.zeros(size.shape)
        curve = int(self.link[a, b])
        return np.where(size > 0, np.inf, 0.0) if curve == NO_LINK else self.curves[curve].of(size)

    def table_s(self, size_bytes: float) -> FloatArray:
        """Return how long a message of one size takes between any two devices [n, n], as `seconds` does; O(n^2)."""
        unlinked = np.inf if size_bytes > 0 else 0.0
        # The number of no link, -1, reads the last entry.
        times = np.array([*(float(curve.of(size_bytes)) for curve in self.curves), unlinked])[self.link]
        np.fill_diagonal(times, 0.0)
        return times

    def device_types(self) -> IntArray:
        """Return a label per device [n], rising from 0; exchanging two devices of one label changes nothing.

        Such devices are of one kind, speed and memory, and have the same curve to every third device; `machine` plays
        no part. Weighted sums of the rows of `link` propose pairs, and every pair is then compared in full, so that
        each label is right, and two labels for one type as good as impossible (two sums of 64 bits that agree by
        chance). O(n^2).
        """
        first = _first_equal_device(self.link, len(self.curves), self.number_properties())
        return np.unique(first, return_inverse=True)[1].astype(np.int64)

    def take(self, devices: list[int]) -> "Cluster":
        """Return the cluster of some of the devices alone, in the order given."""
        return Cluster(
            names=tuple(self.names[device] for device in devices),
            speed=self.speed[devices],
            memory_bytes=self.memory_bytes[devices],
            curves=self.curves,
            link=self.link[np.ix_(devices, devices)],
            kinds=tuple(self.kinds[device] for device in devices),
            machine=self.machine[devices],
            nics=self.nics[devices],
            reduces=self.reduces[devices],
            types=tuple(self.types[device] for device in devices),
        )

    def parts(self) -> IntArray:
        """Return a label per device [n], rising from 0: those of one label reach each other over links. O(n^2)."""
        part = np.full(self.size, -1, np.int64)
        while (part < 0).any():
            number, seeds = part.max() + 1, np.flatnonzero(part < 0)[:1]
            part[seeds] = number
            while seeds.size and (rest := np.flatnonzero(part < 0)).size:
                seeds = rest[(self.link[np.ix_(seeds, rest)] != NO_LINK).any(axis=0)]
                part[seeds] = number
        return part

    def number_properties(self) -> IntArray:
        """Return a number per device, equal for devices of one kind, type, speed, memory, NICs and switch."""
        kinds = [get_args(DeviceKind).index(kind) for kind in self.kinds]
        numbers: dict[Accelerator | None, int] = {}
        types = [numbers.setdefault(each, len(numbers)) for each in self.types]
        traits = (self.speed, self.memory_bytes, np.array(kinds), np.array(types), self.nics, self.reduces)
        columns = np.stack(traits, dtype=np.float64)
        return np.unique(columns, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def check_device_count(count: int, limit: int = DEVICE_LIMIT, field: str = "cluster/devices") -> None:
    """Raise InputError of the field unless 1 <= count <= limit; called before anything large is made."""
    if not 1 <= count <= limit:
        raise InputError(field, f"expected 1 to {limit:,} devices, got {describe(count)}")


def _check_table(link: IntArray, size: int, curves: int) -> IntArray:
    """Return the table of links with -1 on its diagonal, or raise InputError."""
    table = np.asarray(link, np.int64)
    if table.shape != (size, size) or table.min() < NO_LINK or table.max() >= curves or not _is_symmetric(table):
        raise InputError("cluster/links", f"expected a symmetric table of {size} x {size} curves")
    if (table.diagonal() != NO_LINK).any():
        table = table.copy()
        np.fill_diagonal(table, NO_LINK)
        lock(table)
    return table


def _is_symmetric(table: IntArray) -> bool:
    """Return whether a square table is its own transpose; by blocks, for whole columns are far apart in memory."""
    starts = range(0, len(table), _BLOCK)
    return all(
        np.array_equal(table[a : a + _BLOCK, b : b + _BLOCK], table[b : b + _BLOCK, a : a + _BLOCK].T)
        for a in starts
        for b in starts
        if a <= b
    )


def _merge_curves(curves: tuple[Curve, ...], link: IntArray) -> tuple[tuple[Curve, ...], IntArray]:
    """Return the different curves in the order in which they come first, and the links in their numbers."""
    numbers: dict[tuple[bytes, bytes, bool], int] = {}
    first: list[Curve] = []
    renumbered = []
    for curve in curves:
        number = numbers.setdefault(curve.key, len(numbers))
        renumbered.append(number)
        if number == len(first):
            first.append(curve)
    if len(first) == len(curves):
        return curves, link
    # The number of no link, -1, reads the last entry.
    return tuple(first), lock(np.array([*renumbered, NO_LINK], np.int64)[link])


def _first_equal_device(link: IntArray, curves: int, properties: IntArray) -> IntArray:
    """Return the first device [n] that each one can be exchanged with, itself where there is none before it.

    With the curve between a and b written onto the diagonal of both, their rows are equal exactly if they can be
    exchanged; so are then the sums of the entries' values, weighted by column.
    """
    size, generator = len(link), np.random.default_rng(0)
    weight, value = (generator.integers(2**64, size=count, dtype=np.uint64) for count in (size, curves + 1))
    blocks = [slice(start, start + _BLOCK) for start in range(0, size, _BLOCK)]
    sums = np.concatenate([value[link[block]] @ weight for block in blocks]) - weight * value[NO_LINK]
    first = np.arange(size)
    for block in blocks:
        entry = value[link[block]]
        equal = sums[block, None] + weight[block, None] * entry == sums + weight * entry
        equal &= properties[block, None] == properties
        own, other = np.arange(size)[block], equal.argmax(axis=1)
        differ = link[own] != link[other]
        rows = np.arange(len(own))
        differ[rows, own] = differ[rows, other] = False
        first[block] = np.where(differ.any(axis=1), own, other)
    return first
