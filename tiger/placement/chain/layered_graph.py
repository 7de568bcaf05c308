"""All lines of stages as a layered graph: a level of states for every number of stages behind."""

from collections.abc import Mapping
from dataclasses import dataclass

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.chain.fitting_runs import sum_error
from tiger.placement.chain.range_minima import Windows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StageStates:
    """Hold the n states of a stage with a certain number of stages behind it.

    `owner[n]` is the number of the device type, or of the position, that runs it, rising. The next stage of state s may
    be `options[s, k]` of the level below, -1 for none, and messages to it take `via[s, k]`, a row of
    `LayeredGraph.sent_s`. `windows[c]` are the runs of layers that owner c can hold.
    """

    owner: IntArray
    options: IntArray
    via: IntArray
    windows: Mapping[int, Windows]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayeredGraph:
    """Hold every line that is allowed: a path from a state of some level down to level 0.

    `ahead_s[c, L + 1]` are the seconds of the first layers on owner c, `sent_s[x, L + 1]` those of all messages over
    a boundary. `members[c]` are the devices of an owner in the order in which they are used. A line begins at one of
    the levels from `shortest` on.
    """

    ahead_s: FloatArray
    sent_s: FloatArray
    members: tuple[tuple[int, ...], ...]
    levels: tuple[StageStates, ...]
    shortest: int

    @property
    def error_s(self) -> float:
        """Return by how many seconds a load may be wrong as a difference of sums."""
        return sum_error(self.ahead_s)
