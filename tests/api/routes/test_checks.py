"""Checking bodies: short ones in the server, long ones in a worker."""

import asyncio
import json
import os
import re
import signal
import time
from asyncio import Runner
from functools import partial

import pytest

from tests.api.desk import LIMITS, Desk, settle
from tiger.api.middleware.problems import Problem, RefusedError, problem_of
from tiger.api.pool.processes import SolverLostError, Workers
from tiger.api.routes import checks
from tiger.api.routes.checks import LARGE_BYTES, Checks, find_fault
from tiger.api.routes.entries import ASSIGN
from tiger.api.schemas.limits import Limits
from tiger.errors import InputError

ASKED = {"tasks": {"nodes": [{"id": "a"}], "edges": []}, "topology": "grid:2"}
SHORT = json.dumps(ASKED).encode()
LONG = SHORT + b" " * LARGE_BYTES


def test_a_long_body_is_read_by_a_worker(loop: Runner, one: Workers) -> None:
    """What is wrong with it is the same."""
    service = Checks(one, LIMITS)
    assert loop.run(service.check(ASSIGN.check, LONG)) is None
    for body in (LONG + b"]", LONG.replace(b'"grid:2"', b"17     ")):
        with pytest.raises(RefusedError) as caught:
            loop.run(service.check(ASSIGN.check, body))
        assert caught.value.problem == find_fault(ASSIGN.check, body, LIMITS)


def test_a_short_body_takes_no_worker() -> None:
    """It is returned as what it asks for."""
    wanted = asyncio.run(Checks(Workers(1), LIMITS).check(ASSIGN.check, SHORT))
    assert wanted is not None
    assert wanted.solver == "auto"


def test_long_bodies_are_read_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little work is kept waiting by one of them at most, and those that are too many are refused."""
    monkeypatch.setattr(checks, "MAX_WAITING", 2)

    async def story() -> int:
        desk = Desk(2)
        service = Checks(desk, LIMITS)
        waiting = [asyncio.ensure_future(service.check(ASSIGN.check, LONG)) for _ in range(3)]
        await settle()
        refused = waiting[2].exception()
        assert isinstance(refused, RefusedError)
        desk.asked[0].set_result(Problem(400, "bad"))
        await settle()
        assert (len(desk.asked), isinstance(waiting[0].exception(), RefusedError)) == (2, True)
        desk.asked[1].set_result(None)
        assert await waiting[1] is None
        return refused.problem.status

    assert asyncio.run(story()) == 429


def test_a_body_that_takes_too_long_to_read_is_refused(
    loop: Runner, one: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is bad input, and no failure of the service."""
    monkeypatch.setattr(checks, "CHECK_S", 0.2)
    with pytest.raises(InputError, match=r"expected a body that can be read in 0\.2 s"):
        loop.run(Checks(one, LIMITS).check(read_for_ever, LONG))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_bug_a_worker_that_was_killed_is_not_the_fault_of_the_body_it_read(
    loop: Runner, one: Workers, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The answer was 422; it is as little the body's fault that a worker is halted."""
    monkeypatch.setattr(checks, "LATE_S", 0.5 - checks.CHECK_S if number == signal.SIGSTOP else 10.0)
    with pytest.raises(SolverLostError) as caught:
        loop.run(Checks(one, LIMITS).check(partial(signal_self, number), LONG))
    problem = problem_of(caught.value)
    assert (problem.status, problem.headers) == (503, {"Retry-After": "5"})


def read_for_ever(body: bytes, _: Limits) -> None:
    """Take a processor and do not come back to run a handler."""
    re.match(r"(a*)*b", "a" * 1000)


def signal_self(number: int, body: bytes, _: Limits) -> None:
    """Send the worker that reads a body a signal, and go on reading where it is still there."""
    os.kill(os.getpid(), number)
    time.sleep(60)
