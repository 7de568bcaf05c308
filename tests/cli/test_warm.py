"""Tests of compiling all kernels."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tiger.bounds import warm as bounds
from tiger.circuits import warm as circuits
from tiger.cli import warm as warming
from tiger.pipeline import warm as placements
from tiger.solvers import warm as searches


def test_all_groups_are_warmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of bounds, of circuits and of placements, beside those of all other searches, each once."""
    seen: list[str] = []
    monkeypatch.setattr(warming, "ProcessPoolExecutor", lambda _, mp_context: ThreadPoolExecutor(1))
    warming.warm_all(seen.append)
    assert sorted(seen) == sorted((*circuits.KERNELS, *searches.KERNELS, *placements.KERNELS, *bounds.KERNELS))
