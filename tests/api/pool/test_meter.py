"""Processor time of calls, told to whoever accounts for it."""

import asyncio
import os
import time

import pytest

from tiger.api.pool.meter import SPENT, read_own_processor_s, read_processor_s
from tiger.api.pool.processes import SolverLostError, Workers
from tiger.errors import InputError

Told = list[tuple[float | None, float]]


def burn(seconds: float) -> None:
    """Use so many seconds of a processor."""
    end_s = time.process_time() + seconds
    while time.process_time() < end_s:
        pass


def refuse(seconds: float) -> None:
    """Use so many seconds of a processor, and find fault."""
    burn(seconds)
    raise InputError("tasks", "expected others")


def die(_: float) -> None:
    """End the process."""
    os._exit(9)


def tell_of(loop: asyncio.Runner, one: Workers, function: object, error: type[Exception] | None = None) -> Told:
    """Have a worker call a function, and return what is told of that."""
    told: Told = []

    async def call() -> None:
        SPENT.set(lambda processor_s, wall_s: told.append((processor_s, wall_s)))
        if error is None:
            await one.run(60, function, 0.1)  # type: ignore[arg-type]  # one of those above
            return
        with pytest.raises(error):
            await one.run(60, function, 0.1)  # type: ignore[arg-type]  # one of those above

    loop.run(call())
    return told


def test_a_call_is_told_of_once(loop: asyncio.Runner, one: Workers) -> None:
    """With its processor time, however it ends, and None where the worker is gone."""
    ((burned_s, _),) = tell_of(loop, one, burn)
    ((refused_s, _),) = tell_of(loop, one, refuse, InputError)
    assert min(burned_s or 0, refused_s or 0) >= 0.1
    assert [processor_s for processor_s, _ in tell_of(loop, one, die, SolverLostError)] == [None]


def test_the_time_of_another_process_is_read() -> None:
    """As it reads it of itself, and none of one that is gone."""
    burn(0.05)
    before_s = read_own_processor_s()
    found_s = read_processor_s(os.getpid())
    assert found_s is not None
    assert before_s - 0.1 < found_s < read_own_processor_s() + 0.1
    assert read_processor_s(2**22 + 1) is None
