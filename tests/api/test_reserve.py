"""Workers of lower priority."""

import asyncio
import os

import pytest

from tiger.api import workers
from tiger.api.reserve import NICE, Reserve


def test_processes_step_back(loop: asyncio.Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind this one, by as much as was meant."""
    monkeypatch.setattr(workers, "_warm_up", workers._tie)

    async def scenario() -> int:
        reserve = Reserve(1)
        reserve.start()
        found = await reserve.run(5, os.nice, 0)
        await reserve.stop()
        return found

    assert loop.run(scenario()) - os.nice(0) in (NICE, 19 - os.nice(0))
