"""Islands of a circuit's mapping: one stage with several seeds, side by side, whoever runs them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from tiger.circuits.params import LayoutParams
from tiger.model.seeds import derive
from tiger.run.island_call import IslandCall

Found = TypeVar("Found")
# Beside a seed on the path of those derived from it.
ISLANDS = 1


class Island(NamedTuple):
    """Hold the seed of an island and its threads; a `spare` one finds nothing, None, if it begins when time is up."""

    seed: int
    threads: int
    spare: bool = False


def run_islands(step: Callable[..., Found | None], params: LayoutParams, *given: Sequence[object]) -> list[Found]:
    """Return what `step` finds, called with what it is given and an island, on as many islands as are given anything.

    The first island has the seed of the request, and is no spare one. An executor may send `step` away; without one,
    islands share the threads of this process.
    """
    count = min([params.islands, *map(len, given)])
    seeds = [params.seed, *(derive(params.seed, ISLANDS, number) for number in range(1, count))]
    lent = params.executor if count > 1 else None
    side_by_side = 1 if lent else max(min(params.threads, count), 1)
    islands = [Island(seed, params.threads // side_by_side, number > 0) for number, seed in enumerate(seeds)]
    if lent is not None:
        found = list(lent.map(IslandCall(step), *given, islands))
    elif side_by_side < 2:
        found = list(map(step, *given, islands))
    else:
        with ThreadPoolExecutor(side_by_side) as pool:
            found = list(pool.map(step, *given, islands))
    return [each for each in found if each is not None]
