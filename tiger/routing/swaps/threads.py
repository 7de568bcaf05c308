"""Lanes of a search side by side in threads: how many threads there are never changes what they find."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

RunAll = Callable[[Callable[[int], None]], None]


@contextmanager
def run_searchers(searchers: int, threads: int) -> Iterator[RunAll]:
    """Yield a function that calls another with the number of every searcher and returns when all calls have.

    Compiled code that holds no lock runs at once. What is called has to leave alone what other searchers use.
    """
    # A pool of one thread would only cost.
    if min(threads, searchers) < 2:
        yield lambda work: _wait_for_all(map(work, range(searchers)))
        return
    with ThreadPoolExecutor(min(threads, searchers)) as pool:
        yield lambda work: _wait_for_all(pool.map(work, range(searchers)))


def _wait_for_all(calls: Iterator[None]) -> None:
    """Wait for all calls, and raise what the first to fail raised."""
    for _ in calls:
        pass
