"""The one-method seams that implementations plug into, and the values that cross them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from tiger.model.arrays import BitArray, IntArray
from tiger.model.problem import Problem
from tiger.model.window import Block

Stop = Callable[[], bool]


def left_of(stop: Stop) -> float | None:
    """Return the seconds until `stop` will return True, None where it does not know an end."""
    left_s: float | None = getattr(stop, "left_s", None)
    return left_s


Figure = str | int | float | tuple[float, ...]


class Samples(NamedTuple):
    """Hold what a sampler drew, `bits[r, size]` of r reads, and the figures it reports of itself."""

    bits: BitArray
    figures: Mapping[str, Figure] = {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assignment:
    """Hold node indices `places[n]`, and whether the search proved that no cheaper feasible mapping exists.

    `elites[k, n]` are good mappings that differ, for a search that goes on from several.
    """

    places: IntArray
    proved: bool = False
    elites: IntArray | None = None


class Search(Protocol):
    """Look for a cheap mapping on the problem itself."""

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return a feasible mapping at most as costly as the feasible `start[n]`.

        `effort` >= 1 counts iterations: the same problem, start, seed and effort give the same answer. `stop()` is
        called now and then; once it returns True the best mapping so far is returned.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Say how a solve uses a search: in which of its rounds, and in how many parts that share the effort of one.

    A search that more effort does not help runs in the first round alone, one that needs a good mapping in the later
    ones. Parts start with seeds of their own and may run at once. A search states its `usage` as an attribute; one that
    does not runs in every round, in one part. Several islands run it in one part each, but once for all where it is not
    `seeded`, as its seed plays no part. A `long` one finds more in one round than in several of as much effort in all.
    A `leader` is the stage of a quick search: where what that finds is dearer than what there was, the first round is
    for searches of later rounds, elsewhere for those of all rounds. One that often finds nothing gets a `time_share` of
    the time left under a limit.
    """

    rounds: Literal["all", "first", "later"] = "all"
    parts: int = 1
    seeded: bool = True
    long: bool = False
    leader: str | None = None
    time_share: float = 1.0

    def covers(self, number: int, *, led: bool = True) -> bool:
        """Return whether the search runs in a round by its number, from 0; `led` unless its leader found nothing."""
        if self.leader is not None and number == 0:
            return led != (self.rounds == "later")
        return {"all": True, "first": number == 0, "later": number > 0}[self.rounds]


@runtime_checkable
class Resumable(Protocol):
    """Go on in a later round from the good mappings of an earlier one."""

    def resume(self, elites: IntArray) -> Search:
        """Return the search that starts from `elites[k, n]` as well."""
        ...


class Partitioner(Protocol):
    """Cut a problem into blocks that are solved one after another."""

    def split(self, problem: Problem, start: IntArray, *, max_size: int, seed: int) -> Iterable[Block]:
        """Yield blocks of at most `max_size` task-node pairs that together hold every task without a pin exactly once.

        A block's nodes include those its tasks occupy in the feasible `start[n]`. A single task may exceed `max_size`.
        """
        ...
