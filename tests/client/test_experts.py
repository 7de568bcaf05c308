"""Tests of requests for maps of experts."""

import json
from pathlib import Path

import numpy as np
import pytest

import tiger
from tiger.client.requests import expert_placement
from tiger.errors import InputError

CLUSTER = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}
LOADS = np.array([[9.0, 1, 1, 1]])


def test_files_are_read_here(tmp_path: Path) -> None:
    """A trace, and the map in use, as lists."""
    (tmp_path / "t.csv").write_text("0,1\n1,0\n")
    (tmp_path / "m.json").write_text("[[0, 1], [0, 1]]")
    asked = expert_placement(tmp_path / "t.csv", CLUSTER, tmp_path / "m.json", experts=2, held_out=0.0)
    document = json.loads(asked.body)
    assert (asked.path, document["trace"], document["in_use"]) == (
        "experts",
        [[[0], [1]], [[1], [0]]],
        [[0, 1], [0, 1]],
    )
    assert (document["cluster"], document["experts"]) == (CLUSTER, 2)


def test_the_report_is_that_of_a_local_run() -> None:
    """Read from its document."""
    asked = expert_placement(LOADS, CLUSTER, kind="loads", replicas=2)
    report = tiger.experts(LOADS, CLUSTER, kind="loads", replicas=2)
    assert json.loads(asked.body)["trace"] == LOADS.tolist()
    assert asked.read(report.to_dict()) == report


def test_batches_and_shares_are_those_of_a_local_run() -> None:
    """Of each batch, as a list."""
    batches, asked = np.stack([LOADS, LOADS + 1]), {"kind": "loads", "replicas": 2, "sharing": "balanced", "decay": 0.5}
    request = expert_placement(batches, CLUSTER, **asked)
    report = tiger.experts(batches, CLUSTER, **asked)
    assert json.loads(request.body)["trace"] == batches.tolist()
    assert request.read(report.to_dict()) == report


def test_what_is_wrong_is_said_here() -> None:
    """As in Python."""
    with pytest.raises(InputError, match="replicas: expected a multiple of the 2 accelerators"):
        expert_placement(LOADS, CLUSTER, kind="loads", replicas=1)
