"""The model as operators: what each costs, holds and sends, and which of them have to stay together."""

from dataclasses import dataclass, field

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    check_amounts,
    check_names,
    distinct,
    freeze,
    lock,
    unset_array,
)
from tiger.model.wording import describe


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operators:
    """Hold n operators and the e edges between them, a directed graph without cycles.

    Times are seconds of one microbatch: `seconds` on an accelerator of speed 1, `cpu_s` (default: those) on a cpu of
    speed 1. `memory_bytes` is what an accelerator holds of an operator. What an operator sends to another device takes
    `sent_s` (default: 0) whatever the link, and the time of `sent_bytes` (default: 0) over it. Edge e goes from
    operator `source[e]` to `target[e]`; the same edge counts once. Operators with the same number in `colour`
    (default: all different) are colocated: they share a device. `backward` marks those of the backward pass,
    `cpu_only` those that no accelerator runs (default of both: none).
    """

    names: tuple[str, ...]
    seconds: FloatArray
    source: IntArray
    target: IntArray
    cpu_s: FloatArray = field(default_factory=unset_array)
    memory_bytes: FloatArray = field(default_factory=unset_array)
    sent_s: FloatArray = field(default_factory=unset_array)
    sent_bytes: FloatArray = field(default_factory=unset_array)
    colour: IntArray = field(default_factory=unset_array)
    backward: BoolArray = field(default_factory=unset_array)
    cpu_only: BoolArray = field(default_factory=unset_array)

    def __post_init__(self) -> None:
        """Check every bound, fill the defaults in and make the arrays read-only; raise InputError naming the field."""
        names = check_names("model/nodes", self.names)
        size = len(names)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "seconds", check_amounts("model/seconds", self.seconds, size))
        for name in ("cpu_s", "memory_bytes", "sent_s", "sent_bytes"):
            given = getattr(self, name)
            default = self.seconds if name == "cpu_s" else np.zeros(size)
            object.__setattr__(self, name, check_amounts(f"model/{name}", given if len(given) else default, size))
        colour = np.asarray(self.colour if len(self.colour) else np.arange(size), np.int64)
        if colour.shape != (size,):
            raise InputError("model/colour", f"expected {size} numbers, got shape {colour.shape}")
        # Groups are numbered as they come first.
        _, first, label = np.unique(colour, return_index=True, return_inverse=True)
        object.__setattr__(self, "colour", lock(np.argsort(np.argsort(first))[label.reshape(-1)].astype(np.int64)))
        for name in ("backward", "cpu_only"):
            marks = np.asarray(getattr(self, name) if len(getattr(self, name)) else np.zeros(size), np.bool_)
            if marks.shape != (size,):
                raise InputError(f"model/{name}", f"expected {size} marks, got shape {marks.shape}")
            object.__setattr__(self, name, freeze(marks))
        source, target = _edges(self.source, self.target, names)
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "target", target)

    @property
    def size(self) -> int:
        """Return n, the number of operators."""
        return len(self.names)

    @property
    def groups(self) -> int:
        """Return how many groups of colocated operators there are."""
        return int(self.colour.max()) + 1


def _edges(source: IntArray, target: IntArray, names: tuple[str, ...]) -> tuple[IntArray, IntArray]:
    """Return each edge once, by source and then target; raise InputError for an operator that is none, or a cycle."""
    # Placing a chain needs none of it, and takes less time than importing it.
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    size, ends = len(names), np.stack([np.asarray(source, np.int64), np.asarray(target, np.int64)])
    if ends.size and (ends.min() < 0 or ends.max() >= size):
        raise InputError("model/edges", f"expected operators from 0 to {size - 1} at both ends")
    key = distinct(ends[0] * size + ends[1])
    source, target = key // size, key % size
    loops = source[source == target]
    graph = sp.csr_array((np.ones(len(source), np.int8), (source, target)), shape=(size, size))
    count, part = connected_components(graph, connection="strong")
    if loops.size or count < size:
        on = loops[0] if loops.size else np.flatnonzero(np.bincount(part)[part] > 1)[0]
        raise InputError("model/edges", f"expected a graph without cycles, got one through {describe(names[on])}")
    return lock(source), lock(target)
