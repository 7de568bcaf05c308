"""Tests of loading what maps circuits."""

from pathlib import Path

import pytest
from numba.core import event

import tiger
from tiger.circuits import warm
from tiger.circuits.params import CircuitObjective

EXAMPLES = Path(__file__).parents[2] / "examples" / "circuits"


def test_loading_is_announced_and_done_once() -> None:
    """The second time costs nothing."""
    seen: list[str] = []
    warm.warm(seen.append)
    warm.warm(seen.append, ("windows",))
    assert tuple(seen) == (*warm.KERNELS, "windows")
    assert warm.load.cache_info().misses == len(warm.KERNELS)


@pytest.mark.slow
@pytest.mark.parametrize(("objective", "level"), [("cx", 2), ("depth", 1), ("success", 1)])
def test_nothing_is_compiled_afterwards(objective: CircuitObjective, level: int) -> None:
    """By listening to numba, at levels that have all stages between them."""
    warm.warm(lambda _: None)
    with event.install_recorder("numba:compile") as recorder:
        tiger.layout(EXAMPLES / "qft5.qasm", EXAMPLES / "noisy7.json", level=level, objective=objective)
    assert recorder.buffer == []
