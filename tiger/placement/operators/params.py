"""What a caller asks of a placement of operators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tiger.run.options import SearchOptions

Objective = Literal["throughput", "latency", "both", "cache"]
# The devices of a layer by name: of each of d replicas, and of each of t ranks in it; of an operator a single one.
Ranks = tuple[tuple[str, ...], ...]


class GivenPlacement(NamedTuple):
    """Hold a placement by names: the `ranks` of every layer or operator, and which layers a stage `begins` with.

    A stage begins as well wherever the ranks are others than those of the layer before.
    """

    ranks: Mapping[str, Ranks]
    begins: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorParams(SearchOptions):
    """Set what is minimized, and how hard to search.

    `throughput` is the largest load of a device, `latency` the makespan of one microbatch under list scheduling, and
    `both` the sum of the two, each divided by its lower bound. `contiguous` has every device hold one stage of a line
    that no edge goes backwards in (edges of the backward pass: forwards in). `pinned` gives the device of operators,
    both by name, and `start` that of all of them in a placement to begin with. `solver` is auto for the native search,
    or a sampler for the QUBO. `effort` counts iterations; same seed and effort, same answer. `time_limit_s` only ends a
    search early.
    """

    objective: Objective = "throughput"
    contiguous: bool = False
    pinned: Mapping[str, str] = field(default_factory=dict)
    start: GivenPlacement | None = None
