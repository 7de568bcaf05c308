"""Checking bodies: short ones in the server, long ones in a worker."""

import asyncio
import json
from asyncio import Runner

import pytest

from tests.api.desk import LIMITS, Clerk, Desk, settle
from tiger.api.middleware.problems import Problem, RefusedError
from tiger.api.routes import checks
from tiger.api.routes.checks import LARGE_BYTES, Checks, find_fault
from tiger.api.routes.entries import ASSIGN
from tiger.api.workers.processes import SolverLostError, Workers
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


def test_a_body_that_takes_too_long_to_read_is_refused() -> None:
    """It is bad input, and no failure of the service."""
    clerk = Clerk()
    clerk.says = SolverLostError("ended after 15 s")
    with pytest.raises(InputError, match="expected a body that can be read"):
        asyncio.run(Checks(clerk, LIMITS).check(ASSIGN.check, LONG))
