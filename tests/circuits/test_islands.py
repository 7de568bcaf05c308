"""Tests of islands: who runs them, and with which seeds."""

import operator
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from tests.circuits.brief import shorten_levels
from tests.circuits.test_solve import GRID, circuit
from tests.routing.replay import find_flaw
from tiger.circuits import solve
from tiger.circuits.islands import Island, run_islands
from tiger.circuits.params import LayoutParams
from tiger.circuits.solve import map_circuit
from tiger.routing.route import Route
from tiger.routing.swaps.search import search


def note(given: str, island: Island) -> tuple[str, int, int]:
    """Return what is given to an island, with its seed and threads."""
    return given, island.seed, island.threads


def find_on_first(given: str, island: Island) -> str | None:
    """Return what is given to the first island, as if time were up."""
    return None if island.spare else given


def test_the_first_island_has_the_seed_of_the_request() -> None:
    """Others have seeds of their own, which are those of no other request either."""
    one = run_islands(note, LayoutParams(seed=5), "a")
    more = run_islands(note, LayoutParams(seed=5, islands=3), "abc")
    others = run_islands(note, LayoutParams(seed=6, islands=3), "abc")
    assert one == more[:1] == [("a", 5, 1)]
    assert [given for given, _, _ in more] == ["a", "b", "c"]
    assert len({seed for _, seed, _ in more + others}) == 6


@pytest.mark.parametrize(("threads", "each"), [(1, 1), (2, 1), (3, 1), (7, 2)])
def test_islands_share_the_threads_of_a_process(threads: int, each: int) -> None:
    """An executor's workers have as many as are asked for; answers are in order."""
    found = run_islands(note, LayoutParams(islands=3, threads=threads), "abc")
    assert [(given, own) for given, _, own in found] == [("a", each), ("b", each), ("c", each)]
    with ThreadPoolExecutor(2) as pool:
        lent = run_islands(note, LayoutParams(islands=3, threads=threads, executor=pool), "abc")
    assert [own for _, _, own in lent] == [threads] * 3
    assert [seed for _, seed, _ in lent] == [seed for _, seed, _ in found]


def test_islands_without_time_find_nothing() -> None:
    """But for the first one; the next stage has as many as found something."""
    found = run_islands(find_on_first, LayoutParams(islands=3), "abc")
    assert found == ["a"]
    assert run_islands(note, LayoutParams(islands=3, seed=5), found) == [("a", 5, 1)]


def test_one_island_stays_here() -> None:
    """Nothing is sent anywhere for one."""
    with ThreadPoolExecutor(1) as pool:
        pool.shutdown()
        assert run_islands(note, LayoutParams(executor=pool), "a") == [("a", 0, 1)]


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Return another process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.mark.slow
@pytest.mark.parametrize("level", [1, 2])
def test_executors_do_not_matter(processes: Executor, monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    """Another process finds the route that this one finds, which costs no more than that of one island."""
    shorten_levels(monkeypatch, 20_000)
    dag = circuit(9, 60)[1].gate_dag
    params = LayoutParams(seed=5, level=level, islands=3)
    here = map_circuit(dag, GRID, params).route
    there = map_circuit(dag, GRID, LayoutParams(seed=5, level=level, islands=3, executor=processes)).route
    assert all(map(np.array_equal, *map(operator.attrgetter("start", "steps"), (here, there))))
    assert here.extra_cx <= map_circuit(dag, GRID, LayoutParams(seed=5, level=level)).route.extra_cx


def test_bug_islands_do_not_begin_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each took 40 ms beyond the limit, 256 of them ten seconds."""
    begun: list[int] = []

    def note_search(*given: Any) -> Route:
        begun.append(1)
        return search(*given)

    monkeypatch.setattr(solve, "search", note_search)
    dag = circuit(9, 60)[1].gate_dag
    found = map_circuit(dag, GRID, LayoutParams(level=2, islands=50, time_limit_s=1e-3))
    assert find_flaw(dag, GRID, found.route) == ""
    assert len(begun) < 5
