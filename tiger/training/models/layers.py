"""The model: layers in the order of the pipeline, with the seconds and bytes of each."""

from dataclasses import dataclass, field, replace
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from tiger.errors import InputError
from tiger.model.arrays import BoolArray, FloatArray, IntArray, check_amounts, check_names, lock, unset_array
from tiger.training.models.recompute import PartialRecompute
from tiger.training.models.served import Served
from tiger.training.models.setup import NO_SETUP, TrainingSetup
from tiger.training.models.traffic import GroupTraffic

LayerKind = Literal["embedding", "layer", "mtp", "head"]
# The share of a backward pass that makes gradients of weights: as many products as those of activations.
WEIGHT_SHARE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layers:
    """Hold L layers in the order in which a pipeline runs them; a stage is a run of consecutive ones.

    Times are seconds of one microbatch on a device of speed 1, `backward_s` without recomputation, of which `weight_s`
    (default: half of it) makes gradients of weights and may be put off. `parameter_bytes` are weights, `gradient_bytes`
    (default: as many) their gradients, which replicas all-reduce once an iteration; `state_bytes` (default: those) are
    held all the time, such as weights, gradients and optimizer states, `held_bytes` for every microbatch in flight.
    `crossing_bytes[L + 1]` one microbatch sends forward over the boundary before each layer, 0 at both ends; gradients
    of the same size come back. `reduced_bytes` one forward pass of a layer all-reduces among tensor-parallel ranks, in
    `reductions` calls; the backward pass does the same, and `hiding_s` of either (default: none) hide as many seconds
    of these messages. They are `scattered` where ranks reduce-scatter them and gather them again, as in sequence
    parallelism. `tied` names groups of layers that share the parameters of the first of them: a stage that holds
    several holds them once, and stages that each hold one all-reduce the gradient once in an iteration. `kinds` say
    what part of a model a layer is (default: all "layer"), `modules` are names in its code (default: its name). The
    number of tensor-parallel ranks has to divide `slices`: 1 where layers cannot be cut, 0 where any number will do.
    Beside all that a position holds `working_bytes` of the layer that it is at. `group_traffic` (default: that
    all-reduce alone) is what ranks with the same layers send each other, `setup` what the layers were made
    for, and `source_s` (default: none) the seconds that one rank computes in all layers, by `timings.timed.SOURCES`.
    `served` says what of the state of a model that serves is its cache and its experts, None of one that learns.
    Where only the first layers of a stage are computed again, `partial` says what the others take: costs are then those
    `between` cuts, and without cuts there is the `least` of both.
    """

    names: tuple[str, ...]
    forward_s: FloatArray
    backward_s: FloatArray
    parameter_bytes: FloatArray
    crossing_bytes: FloatArray
    weight_s: FloatArray = field(default_factory=unset_array)
    gradient_bytes: FloatArray = field(default_factory=unset_array)
    state_bytes: FloatArray = field(default_factory=unset_array)
    held_bytes: FloatArray = field(default_factory=unset_array)
    reduced_bytes: FloatArray = field(default_factory=unset_array)
    reductions: FloatArray = field(default_factory=unset_array)
    hiding_s: FloatArray = field(default_factory=unset_array)
    scattered: bool = False
    kinds: tuple[LayerKind, ...] = ()
    modules: tuple[str, ...] = ()
    tied: tuple[tuple[int, ...], ...] = ()
    slices: int = 1
    working_bytes: FloatArray = field(default_factory=unset_array)
    group_traffic: GroupTraffic | None = None
    setup: TrainingSetup = NO_SETUP
    source_s: FloatArray = field(default_factory=unset_array)
    partial: PartialRecompute | None = None
    served: Served | None = None

    def __post_init__(self) -> None:
        """Check every bound, fill the defaults in and make the arrays read-only; raise InputError naming the field."""
        names = check_names("model/layers", self.names)
        size = len(names)
        object.__setattr__(self, "names", names)
        for name in ("forward_s", "backward_s", "parameter_bytes"):
            object.__setattr__(self, name, check_amounts(f"model/{name}", getattr(self, name), size))
        defaults = {
            "weight_s": self.backward_s * WEIGHT_SHARE,
            "gradient_bytes": self.parameter_bytes,
            "state_bytes": self.parameter_bytes,
            "held_bytes": np.zeros(size),
            "working_bytes": np.zeros(size),
            "reduced_bytes": np.zeros(size),
            "reductions": np.zeros(size),
            "hiding_s": np.zeros(size),
        }
        for name, default in defaults.items():
            given = getattr(self, name)
            object.__setattr__(self, name, check_amounts(f"model/{name}", given if len(given) else default, size))
        if (self.weight_s > self.backward_s).any():
            late = names[int(np.argmax(self.weight_s > self.backward_s))]
            raise InputError("model/weight_s", f"expected no more than backward_s, got more at layer {late!r}")
        object.__setattr__(self, "crossing_bytes", check_amounts("model/crossing_bytes", self.crossing_bytes, size + 1))
        object.__setattr__(self, "kinds", self._labels("kinds", ("layer",) * size))
        object.__setattr__(self, "modules", self._labels("modules", names))
        unknown = next((kind for kind in self.kinds if kind not in get_args(LayerKind)), None)
        if unknown is not None:
            raise InputError("model/kinds", f"expected one of {', '.join(get_args(LayerKind))}, got {unknown!r}")
        groups = tuple(tuple(sorted(set(group))) for group in self.tied)
        members = [member for group in groups for member in group]
        if len(set(members)) < len(members) or any(not 0 <= member < size for member in members):
            raise InputError("model/tied", f"expected layers from 0 to {size - 1}, each in one group")
        object.__setattr__(self, "tied", groups)

    @property
    def size(self) -> int:
        """Return L, the number of layers."""
        return len(self.names)

    @property
    def traffic(self) -> GroupTraffic:
        """Return what ranks with the same layers send each other."""
        return self.group_traffic or GroupTraffic.of_gradients(self.gradient_bytes)

    def between(self, cuts: tuple[int, ...]) -> Self:
        """Return the layers with the costs that they have in stages between cuts; O(L)."""
        if self.partial is None:
            return self
        return self._repeat(self.partial, self.partial.find_repeated(cuts))

    @property
    def least(self) -> Self:
        """Return the layers with the least costs that they have between any cuts, one by one."""
        if self.partial is None:
            return self
        quick = self._repeat(self.partial, np.zeros(self.size, bool))
        return replace(
            quick,
            held_bytes=np.minimum(self.held_bytes, quick.held_bytes),
            working_bytes=np.minimum(self.working_bytes, quick.working_bytes),
        )

    def _repeat(self, partial: PartialRecompute, repeated: BoolArray) -> Self:
        """Return the layers of which some are computed again."""
        columns = ("forward_s", "backward_s", "held_bytes", "working_bytes")
        costs = {name: np.where(repeated, getattr(self, name), getattr(partial, name)) for name in columns}
        traffic = replace(self.traffic, repeats=np.where(repeated, self.traffic.repeats, 0.0))
        return replace(self, partial=None, group_traffic=traffic, **costs)

    def _labels(self, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """Return one label a layer."""
        given = tuple(getattr(self, name)) or default
        if len(given) != self.size:
            raise InputError(f"model/{name}", f"expected {self.size} names, got {len(given)}")
        return given

    @staticmethod
    def crossing(sent_bytes: ArrayLike, source: IntArray, target: IntArray) -> FloatArray:
        """Return the bytes over each of L + 1 boundaries, for edges from positions `source[e]` to later `target[e]`.

        Layer i sends `sent_bytes[i]` to all that consume it; it crosses each boundary up to the last of them once.
        O(L log L + edges).
        """
        sent = np.asarray(sent_bytes, np.float64)
        last = np.arange(len(sent))
        np.maximum.at(last, source, target)
        return lock(_range_sums(sent, last))


def _range_sums(sent: FloatArray, last: IntArray) -> FloatArray:
    """Return the sum of all `sent[i]` at each of L + 1 boundaries from i + 1 up to `last[i]`, without a subtraction.

    Subtracting a large amount again would lose the digits of smaller ones. A segment tree adds alone: each range is
    made up of at most 2 log L nodes, whose sums then go down to the leaves. Source: Bentley, Solutions to Klee's
    rectangle problems, 1977.
    """
    size = len(sent) + 1
    tree, begin, end = np.zeros(2 * size), np.arange(1, size) + size, last + 1 + size
    while (open_ := begin < end).any():
        odd = open_ & (begin % 2 == 1)
        np.add.at(tree, begin[odd], sent[odd])
        begin = begin + odd
        odd = open_ & (end % 2 == 1)
        end = end - odd
        np.add.at(tree, end[odd], sent[odd])
        begin, end = begin // 2, end // 2
    # Parents come before their children, level by level.
    level = 1
    while level < size:
        parents = np.arange(level, min(2 * level, size))
        tree[2 * parents] += tree[parents]
        tree[2 * parents + 1] += tree[parents]
        level *= 2
    return tree[size:]
