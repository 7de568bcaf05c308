"""Those who watch jobs."""

import asyncio
from asyncio import Runner
from collections.abc import Mapping

import pytest

from tiger.api.jobs import watchers
from tiger.api.jobs.watchers import Watchers
from tiger.api.seams.job import DatabaseDownError


class Database:
    """Say how jobs are, and count who asks."""

    def __init__(self) -> None:
        self.states: dict[str, object] = {"a": 1, "b": 1}
        self.fault: Exception | None = None
        self.asked: list[list[str]] = []

    async def settle(self) -> None:
        """Wait until what is so now has been looked at."""
        before = len(self.asked)
        while len(self.asked) < before + 2:
            await asyncio.sleep(0)

    async def look(self, ids: list[str]) -> Mapping[str, object]:
        """Return the states of some jobs."""
        self.asked.append(ids)
        if self.fault is not None:
            raise self.fault
        return {name: self.states[name] for name in ids if name in self.states}


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    """Return where jobs are, looked at often."""
    monkeypatch.setattr(watchers, "LOOK_S", 0.01)
    return Database()


async def woken(database: Database, event: str) -> list[bool]:
    """Return which of two watchers of a and one of b, who know how it is, are woken by an event."""
    watching = Watchers(database.look)
    watching.start()
    with watching.of("a") as one, watching.of("a") as two, watching.of("b") as other:
        await database.settle()
        for known in (one, two, other):
            known.clear()
        match event:
            case "changed here":
                watching.wake("a")
            case "changed there":
                database.states["a"] = 2
            case "forgotten":
                del database.states["a"]
            case "gone":
                database.fault = DatabaseDownError()
        await database.settle()
        found = [known.is_set() for known in (one, two, other)]
    await watching.stop()
    return found


@pytest.mark.parametrize(
    ("event", "whom"),
    [
        ("nothing", [False, False, False]),
        ("changed here", [True, True, False]),
        ("changed there", [True, True, False]),
        ("forgotten", [True, True, False]),
        ("gone", [True, True, True]),
    ],
)
def test_a_watcher_is_woken_by_what_concerns_it(loop: Runner, database: Database, event: str, whom: list[bool]) -> None:
    """Whether it happened here or on another server."""
    assert loop.run(woken(database, event)) == whom


def test_bug_those_who_watch_are_woken_after_an_error(loop: Runner, database: Database) -> None:
    """Whatever it was: the next look is made."""

    async def after() -> bool:
        watching = Watchers(database.look)
        watching.start()
        with watching.of("a") as event:
            database.fault = ValueError()
            await database.settle()
            database.fault = None
            await database.settle()
            event.clear()
            database.states["a"] = 2
            await asyncio.wait_for(event.wait(), 300)
        await watching.stop()
        return True

    assert loop.run(after())


def test_all_look_together(loop: Runner, database: Database) -> None:
    """And not at all when nobody watches."""
    loop.run(woken(database, "nothing"))
    assert {tuple(ids) for ids in database.asked} == {("a", "b")}
    assert len(database.asked) <= 10


def test_a_change_before_the_first_look_is_not_missed(loop: Runner, database: Database) -> None:
    """Who begins to watch is woken once, whatever others have seen by then."""

    async def late() -> bool:
        watching = Watchers(database.look)
        watching.start()
        with watching.of("a"):
            await database.settle()
            with watching.of("a") as late:
                await asyncio.wait_for(late.wait(), 300)
        await watching.stop()
        return late.is_set()

    assert loop.run(late())
