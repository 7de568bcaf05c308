"""Tests of `tiger.experts` and of its report."""

from typing import Any

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.expert_maps.report import ExpertReport

PAIR = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}
# Tokens alternate between experts 0 and 2, or 1 and 3.
TRACE = np.array([[0, 2, 0], [1, 3, 1], [3, 1, 3], [2, 0, 2], [0, 2, 0]])


def ask(**changes: Any) -> ExpertReport:
    """Place four experts on two devices."""
    return tiger.experts(**{"trace": TRACE, "cluster": PAIR, "experts": 4, "held_out": 0.2} | changes)


def test_experts_that_follow_each_other_share_a_device() -> None:
    """By numbers, every transition crosses."""
    report = ask()
    assert report.optimal
    assert (report.placed.crossing, report.placed.held_out_crossing, report.contiguous.crossing) == (0, 0, 1)
    assert (report.layers, report.tokens, report.held_out_tokens, report.top_k) == (3, 4, 1, 1)
    ops = {op: stage.device for stage in report.stages for op in stage.ops}
    assert len(ops) == 12
    assert ops["0:0"] == ops["1:2"] == ops["2:0"] == report.devices[report.slots[2].index(0) // 2]
    assert report.headline.startswith("solved: 0.0% of transitions change device (held-out tokens), 100.0% in")


def test_a_report_is_a_document() -> None:
    """Which says the same when it is read back, and has a table."""
    report = ask()
    document = report.to_dict()
    assert document["schema"] == "tiger.experts/1"
    assert ExpertReport.from_dict(document).to_dict() == document
    assert [row.device for row in report.rows] == ["x", "y"]


def test_all_tokens_can_be_used() -> None:
    """Nothing is said of held-out ones then."""
    report = ask(held_out=0.0)
    assert (report.tokens, report.held_out_tokens, report.placed.held_out_hops) == (5, 0, None)
    assert "(all tokens)" in report.headline


def test_flat_is_reported_where_hops_differ() -> None:
    """On two machines, and not on one."""
    trace = np.random.default_rng(0).random((50, 3, 16)).argsort(axis=2)[..., :2]
    report = ask(trace=trace, cluster="dgx:2", experts=16, effort=1)
    assert report.flat is not None
    assert report.objective.bound.total <= report.placed.hops <= report.flat.hops
    assert (report.top_k, ask().flat) == (2, None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"experts": 5}, "experts: expected a multiple of the 2 accelerators, got 5"),
        ({"experts": 0}, "experts: expected the number of experts of a layer, got 0"),
        (
            {"experts": 2 * 10**5000},
            "experts: expected at most 4096 slots a layer",
        ),
        ({"experts": 10**5000 + 1}, "experts: expected a multiple of the 2 accelerators, got a number of more than 60"),
        ({"experts": 2}, "trace: expected experts 0 to 1, got 2 for token 0 in layer 1"),
        ({"trace": np.vstack([TRACE, TRACE * 2])}, "trace: expected experts 0 to 3, got 4 for token 5 in layer 1"),
        ({"trace": TRACE, "held_out": 1.0}, "held_out: expected a share from 0 to below 1, got 1.0"),
        ({"held_out": float("nan")}, "held_out: expected a share"),
        ({"effort": None}, "effort: expected a whole number"),
        ({"seed": -1}, "seed: expected a whole number"),
        ({"cluster": None}, "cluster: expected a cluster, got none"),
    ],
)
def test_bad_values_are_named(changes: dict[str, Any], message: str) -> None:
    """By the field."""
    with pytest.raises(InputError, match=message):
        ask(**changes)


def test_other_types_are_refused() -> None:
    """As everywhere."""
    with pytest.raises(TypeError, match="held_out: expected a number, got str"):
        ask(held_out="0.1")
