"""Small requests, answered one after the other."""

import asyncio
import itertools

import pytest

from tests.api.desk import LIMITS, Desk, settle
from tiger.api.middleware.problems import RefusedError
from tiger.api.pool.processes import Workers
from tiger.api.routes import inline
from tiger.api.routes.inline import Inline
from tiger.api.schemas.limits import Limits
from tiger.errors import InputError


def test_as_many_are_answered_at_a_time_as_there_are_workers(loop: asyncio.Runner) -> None:
    """The others wait for a worker."""

    async def scenario() -> None:
        answers = Inline(desk := Desk(2), LIMITS)
        asked = [asyncio.ensure_future(answers.answer(bytes.__add__, b"", 5.0)) for _ in range(3)]
        await settle()
        assert len(desk.asked) == 2
        desk.asked[1].set_result(b"first")
        await settle()
        desk.asked[2].set_result(b"second")
        assert (await asked[1], await asked[2]) == (b"first", b"second")

    loop.run(scenario())


@pytest.mark.parametrize(("name", "value"), [("WAIT_S", 0.01), ("MAX_WAITING", 0)])
def test_who_would_wait_too_long_is_turned_away(
    loop: asyncio.Runner, monkeypatch: pytest.MonkeyPatch, name: str, value: float
) -> None:
    """After a while, or at once where many wait already."""

    async def scenario() -> None:
        answers = Inline(desk := Desk(), LIMITS)
        busy = asyncio.ensure_future(answers.answer(bytes.__add__, b"", 5.0))
        await settle()
        monkeypatch.setattr(inline, name, value)
        assert await answers.answer(bytes.__add__, b"", 5.0) is None
        assert len(desk.asked) == 1
        desk.asked[0].set_result(b"")
        assert await busy == b""

    loop.run(scenario())


def test_work_that_is_not_small_is_given_up(loop: asyncio.Runner) -> None:
    """The worker is free for the next one."""

    async def scenario() -> None:
        answers = Inline(desk := Desk(), LIMITS)
        assert await answers.answer(bytes.__add__, b"", 0.01) is None
        await settle()
        assert desk.asked[0].cancelled()
        following = asyncio.ensure_future(answers.answer(bytes.__add__, b"", 5.0))
        await settle()
        desk.asked[1].set_exception(InputError("tasks", "expected some"))
        with pytest.raises(InputError):
            await following

    loop.run(scenario())


def test_bug_what_waits_for_a_worker_may_be_asked_again(loop: asyncio.Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not refused as if it were too large, which it may not be."""
    monkeypatch.setattr(inline, "LATE_S", 0.0)

    async def scenario() -> None:
        with pytest.raises(RefusedError) as caught:
            await Inline(Desk(), LIMITS).answer_in_time(bytes.__add__, b"", 0.01, "an answer")
        assert (caught.value.problem.status, caught.value.problem.headers) == (503, {"Retry-After": "5"})

    loop.run(scenario())


def test_what_takes_a_worker_too_long_is_refused(loop: asyncio.Runner, one: Workers) -> None:
    """To ask again would not help."""
    with pytest.raises(InputError, match=r"expected an answer within 0.1 s, got more"):
        loop.run(Inline(one, LIMITS).answer_in_time(count_on, b"", 0.1, "an answer"))


def count_on(_: bytes, __: Limits) -> None:
    """Count for ever."""
    sum(itertools.count())


@pytest.mark.parametrize("patient_s", [0.0, 9.0])
def test_a_client_that_leaves_ends_its_work(
    loop: asyncio.Runner, monkeypatch: pytest.MonkeyPatch, patient_s: float
) -> None:
    """If it does not end by itself soon, since it costs seconds to replace a worker."""
    monkeypatch.setattr(inline, "CANCEL_S", patient_s)

    async def scenario() -> None:
        left = asyncio.ensure_future(Inline(desk := Desk(), LIMITS).answer(bytes.__add__, b"", 5.0))
        await settle()
        left.cancel()
        await asyncio.sleep(0.01)
        await settle()
        assert desk.asked[0].cancelled() is (patient_s == 0.0)

    loop.run(scenario())
