"""What the experts of each layer are asked for, and the slots of GPUs that their replicas fill."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tiger.errors import InputError
from tiger.model.arrays import BoolArray, FloatArray, IntArray, freeze
from tiger.model.wording import describe

# Sizes that are read at most: the largest models have 512 experts in 94 layers, the largest systems 320 GPUs.
LAYERS_MAX, SLOTS_MAX = 1_024, 4_096


@dataclass(frozen=True, slots=True)
class ExpertLoads:
    """Hold the load of each expert, `weight` [layers, experts], and the `num_replicas` slots that GPUs have for them.

    Every GPU has `num_replicas / num_gpus` slots, and a replica carries its expert's load divided by the number of its
    replicas. A GPU takes its load over its `speed` [GPUs] as its time; without any, all are as fast. Where the number
    of groups is a multiple of that of nodes, the experts of a group, `experts / num_groups` in order, stay on one node
    (hierarchical); otherwise groups and nodes play no part (global). `copies_per_gpu` is how many replicas of one
    expert a GPU may hold; as many as it has slots means any number. Where GPUs have fewer slots, `room` [layers, GPUs]
    says how many; the last expert, without load, then stands in all slots beyond. Raises InputError that names a field.
    """

    weight: FloatArray
    num_replicas: int
    num_groups: int
    num_nodes: int
    num_gpus: int
    copies_per_gpu: int = 1
    speed: FloatArray | None = None
    room: IntArray | None = None

    def __post_init__(self) -> None:
        """Check the fields and what they say together."""
        object.__setattr__(self, "weight", check_weight("weight", self.weight))
        if self.speed is not None:
            object.__setattr__(self, "speed", _check_speed(self.speed, self.num_gpus))
        for name in ("num_replicas", "num_groups", "num_nodes", "num_gpus", "copies_per_gpu"):
            _check_count(name, getattr(self, name))
        _check_division("num_replicas", self.num_replicas, "num_gpus", self.num_gpus)
        if self.num_replicas < self.experts:
            raise InputError(
                "num_replicas", f"expected at least one an expert, {self.experts}, got {self.num_replicas}"
            )
        if self.pools > 1:
            _check_division("num_gpus", self.num_gpus, "num_nodes", self.num_nodes)
        if self.num_groups % self.num_nodes == 0 and self.experts % self.num_groups:
            raise InputError("num_groups", f"expected a divisor of {self.experts} experts, got {self.num_groups}")
        most = self.experts // self.pools * self.copies_per_gpu
        if self.size > most:
            raise InputError(
                "num_replicas",
                f"expected at most {most} slots a GPU for {self.experts // self.pools} experts and copies_per_gpu "
                f"{self.copies_per_gpu}, got {self.size}",
            )

    @property
    def layers(self) -> int:
        """Return the number of layers."""
        return len(self.weight)

    @property
    def experts(self) -> int:
        """Return the number of experts of a layer."""
        return int(self.weight.shape[1])

    @property
    def size(self) -> int:
        """Return the number of slots of a GPU."""
        return self.num_replicas // self.num_gpus

    @property
    def pools(self) -> int:
        """Return how many parts of the GPUs have experts of their own: nodes if hierarchical, one if global."""
        return self.num_nodes if self.num_groups % self.num_nodes == 0 else 1

    @property
    def groups(self) -> int:
        """Return the number of groups that stay together, one where groups play no part."""
        return self.num_groups if self.num_groups % self.num_nodes == 0 else 1

    @property
    def speeds(self) -> FloatArray:
        """Return the speed of each GPU, [GPUs]."""
        return np.ones(self.num_gpus) if self.speed is None else self.speed

    @property
    def blank(self) -> int:
        """Return the expert that stands where a GPU has no slot, -1 where all have as many."""
        return -1 if self.room is None else self.experts - 1

    @property
    def real(self) -> BoolArray:
        """Return where GPUs have slots, [layers, slots]."""
        if self.room is None:
            return np.ones((self.layers, self.num_replicas), np.bool_)
        return np.asarray((np.arange(self.size) < self.room[:, :, None]).reshape(self.layers, -1))

    def name_kinds(self, layer: int) -> FloatArray | None:
        """Return a number of each GPU, the same for those that are as fast and have as many slots; None if all have."""
        if self.room is None:
            return self.speed
        kinds = np.stack([self.speeds, self.room[layer].astype(np.float64)])
        return np.unique(kinds, axis=1, return_inverse=True)[1].ravel().astype(np.float64)

    @property
    def nodes_alike(self) -> bool:
        """Return whether the GPUs of all parts with experts of their own are as fast as those of the others."""
        rows = np.sort(self.speeds.reshape(self.pools, -1), axis=1)
        return bool((rows == rows[0]).all())

    @property
    def mean(self) -> FloatArray:
        """Return the time of each layer, [layers], if its load could be divided by speed."""
        return np.asarray(self.weight.sum(axis=1) / self.speeds.sum())


def count_replicas(slots: IntArray, experts: int) -> IntArray:
    """Return how many slots each expert has, [rows, experts], from the experts of slots, [rows, slots]."""
    rows = len(slots)
    flat = (np.arange(rows)[:, None] * experts + slots.reshape(rows, -1)).ravel()
    return np.bincount(flat, minlength=rows * experts).reshape(rows, experts)


def gpu_loads(loads: ExpertLoads, phy2log: IntArray) -> FloatArray:
    """Return the load of each GPU, [layers, GPUs], under a map from slots to experts."""
    share = loads.weight / count_replicas(phy2log, loads.experts)
    held = np.take_along_axis(share, phy2log, axis=1)
    return np.asarray(held.reshape(loads.layers, loads.num_gpus, loads.size).sum(axis=2))


def gpu_times(loads: ExpertLoads, phy2log: IntArray) -> FloatArray:
    """Return the load of each GPU over its speed, [layers, GPUs], under a map from slots to experts."""
    return np.asarray(gpu_loads(loads, phy2log) / loads.speeds)


def keep_to_rules(loads: ExpertLoads, slots: IntArray) -> BoolArray:
    """Return which maps, [maps, GPUs, slots of a GPU], hold all groups on nodes, and no expert too often on a GPU."""
    if loads.room is not None:
        # There are no groups then. The numbers of slots that a GPU lacks are no experts, and all differ.
        beyond = np.where(slots == loads.blank, -1 - np.arange(loads.size), slots)
        held = np.sort(beyond, axis=2)
        often = held[..., loads.copies_per_gpu :] == held[..., : -loads.copies_per_gpu]
        return np.asarray(~often.any(axis=(1, 2)))
    held = np.sort(slots, axis=2)
    often = (held[..., loads.copies_per_gpu :] == held[..., : -loads.copies_per_gpu]).any(axis=(1, 2))
    group = np.sort(slots.reshape(len(slots), loads.pools, -1) // (loads.experts // loads.groups), axis=2)
    different = 1 + (np.diff(group, axis=2) > 0).sum(axis=2)
    return np.asarray(~often & (different == loads.groups // loads.pools).all(axis=1))


def check_map(loads: ExpertLoads, field: str, phy2log: ArrayLike) -> IntArray:
    """Return a map from slots to experts, [layers, slots], or raise InputError of its field where it is none.

    Replicas may lie anywhere: a map in use need not keep to the rule that the next one is made under.
    """
    try:
        found = np.asarray(phy2log)
    except ValueError as error:
        raise InputError(field, "expected whole numbers [layers, slots], got rows of different lengths") from error
    shape = (loads.layers, loads.num_replicas)
    if found.shape != shape or found.dtype.kind not in "iu":
        raise InputError(field, f"expected whole numbers of shape {shape}, got {found.dtype} of shape {found.shape}")
    if found.min() < 0 or found.max() >= loads.experts:
        wrong = int(found.min() if found.min() < 0 else found.max())
        raise InputError(field, f"expected experts 0 to {loads.experts - 1}, got {wrong}")
    missing = np.argwhere(count_replicas(found.astype(np.int64), loads.experts) == 0)
    if len(missing):
        raise InputError(f"{field}/{missing[0][0]}", f"expected a slot for every expert, got none for {missing[0][1]}")
    return np.asarray(found, np.int64)


def check_weight(field: str, weight: ArrayLike) -> FloatArray:
    """Return the loads as float64 [layers, experts], or raise InputError of a field or a place in it."""
    try:
        given = np.asarray(weight)
        # Text, dates and complex numbers would be converted, too; whole numbers above 64 bits are objects.
        found = np.asarray(weight, np.float64) if given.dtype.kind in "iufO" else None
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(field, "expected numbers [layers, experts], got others") from error
    if found is None:
        raise InputError(field, f"expected numbers [layers, experts], got {describe(str(given.dtype))}")
    if found.ndim != 2 or not found.size:
        raise InputError(field, f"expected numbers [layers, experts], got shape {found.shape}")
    if len(found) > LAYERS_MAX or found.shape[1] > SLOTS_MAX:
        raise InputError(field, f"expected at most {LAYERS_MAX} x {SLOTS_MAX} numbers, got shape {found.shape}")
    wrong = np.argwhere(~(np.isfinite(found) & (found >= 0)))
    if len(wrong):
        layer, expert = wrong[0].tolist()
        raise InputError(f"{field}/{layer}/{expert}", f"expected a finite number >= 0, got {found[layer, expert]:g}")
    # Sums of loads must not overflow.
    if found.max() > 1e300 / SLOTS_MAX:
        raise InputError(field, f"expected numbers up to {1e300 / SLOTS_MAX:g}, got {found.max():g}")
    return freeze(found)


def _check_speed(speed: FloatArray, gpus: object) -> FloatArray:
    """Return speeds, or raise InputError unless each GPU has a finite one above 0."""
    found = np.asarray(speed, np.float64)
    if found.shape != (gpus,) or not (np.isfinite(found) & (found > 0)).all():
        raise InputError("speed", f"expected a finite number above 0 for each of {gpus} GPUs")
    return freeze(found)


def _check_count(field: str, value: object) -> None:
    """Raise InputError for anything but a whole number from 1 to the most slots."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= SLOTS_MAX:
        raise InputError(field, f"expected a whole number from 1 to {SLOTS_MAX}, got {describe(value)}")


def _check_division(field: str, value: int, other: str, divisor: int) -> None:
    """Raise InputError where a number is no multiple of another."""
    if value % divisor:
        raise InputError(field, f"expected a multiple of {other}, {divisor}, got {value}")
