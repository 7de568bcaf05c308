"""Tests of loading what places operators."""

from pathlib import Path

import pytest
from numba.core import event

import tiger
from tiger.placement import warm

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("aim", [{"objective": "both"}, {"contiguous": True}, {}])
def test_nothing_is_compiled_afterwards(aim: dict[str, object]) -> None:
    """By listening to numba."""
    for name in warm.KERNELS:
        warm.load(name)
    with event.install_recorder("numba:compile") as recorder:
        model, cluster = EXAMPLES / "models" / "two_towers.csv", EXAMPLES / "clusters" / "pair_and_host.json"
        tiger.place(model, cluster, mode="dag", **aim)  # type: ignore[arg-type]  # arguments by name
    assert recorder.buffer == []


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["one device", "no link"])
def test_bug_nothing_is_compiled_for_one_device_or_where_nothing_fits(cluster: str) -> None:
    """Layouts of arrays, or that they are read-only, would be another signature of every kernel."""
    for name in warm.KERNELS:
        warm.load(name)
    devices = [{"name": "a", "memory_bytes": 1e12}, {"name": "b", "memory_bytes": 1e12}]
    rows = [{"name": name, "seconds": 1.0, "memory_bytes": 1.0, "output_bytes": 1.0} for name in "xy"]
    model = {"operators": rows, "edges": [["x", "y"]]}
    with event.install_recorder("numba:compile") as recorder:
        if cluster == "one device":
            tiger.place(model, {"devices": devices[:1], "uniform_bandwidth": 1e9}, mode="dag", objective="both")
        else:
            pinned = {"x": "a", "y": "b"}
            report = tiger.place(model, {"devices": devices, "links": []}, mode="dag", pinned=pinned)
            assert [violation.kind for violation in report.violations] == ["links"]
    assert recorder.buffer == []
