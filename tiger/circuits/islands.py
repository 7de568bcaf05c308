"""Islands of a circuit's mapping: one stage with several seeds, side by side, whoever runs them."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tiger.circuits.params import LayoutParams
from tiger.model.seeds import derive

Found = TypeVar("Found")
# Beside a seed on the path of those derived from it.
ISLANDS = 1


def run_islands(step: Callable[..., Found], params: LayoutParams, *given: Sequence[object]) -> list[Found]:
    """Return what `step` finds on every island, called with what it is given, the island's seed and its threads.

    The first island has the seed of the request. An executor may send `step` away; without one, islands share the
    threads of this process.
    """
    seeds = [params.seed, *(derive(params.seed, ISLANDS, number) for number in range(1, params.islands))]
    if params.executor is not None and params.islands > 1:
        return list(params.executor.map(step, *given, seeds, [params.threads] * len(seeds)))
    side_by_side = min(params.threads, params.islands)
    threads = [params.threads // side_by_side] * len(seeds)
    if side_by_side < 2:
        return list(map(step, *given, seeds, threads))
    with ThreadPoolExecutor(side_by_side) as pool:
        return list(pool.map(step, *given, seeds, threads))
