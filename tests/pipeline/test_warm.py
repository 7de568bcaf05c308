"""Tests of loading what places operators."""

from pathlib import Path

import pytest
from numba.core import event

import tiger
from tiger.pipeline import warm

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("aim", [{"objective": "both"}, {"contiguous": True}, {}])
def test_nothing_is_compiled_afterwards(aim: dict[str, object]) -> None:
    """By listening to numba."""
    warm.warm(lambda _: None)
    with event.install_recorder("numba:compile") as recorder:
        model, cluster = EXAMPLES / "models" / "two_towers.csv", EXAMPLES / "clusters" / "pair_and_host.json"
        tiger.place(model, cluster, mode="dag", **aim)  # type: ignore[arg-type]  # arguments by name
    assert recorder.buffer == []
