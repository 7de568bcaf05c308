"""Tests of `tiger.experts` on devices whose speeds differ."""

from typing import Any

import numpy as np
import pytest

import tiger
from tiger.expert_maps.explanation import explain_experts
from tiger.expert_maps.report import ExpertReport
from tiger.expert_maps.summary import expert_summary

LOADS = np.array([[8.0, 1, 2, 4], [1, 1, 1, 1]])


def cluster(speeds: tuple[float, ...], **devices: Any) -> dict[str, Any]:
    """Return a cluster of devices by their speeds, with other fields of each."""
    named = [{"name": f"g{k}", "speed": speed} for k, speed in enumerate(speeds)]
    more = [{name: values[k] for name, values in devices.items()} for k in range(len(speeds))]
    return {"devices": [one | two for one, two in zip(named, more, strict=True)], "uniform_bandwidth": 1e9}


def ask(speeds: tuple[float, ...] = (2.0, 1.0), **changes: Any) -> ExpertReport:
    """Balance four experts on two devices, one of which takes half the time."""
    return tiger.experts(**{"trace": LOADS, "cluster": cluster(speeds), "kind": "loads", **changes})


def test_a_load_counts_over_speed() -> None:
    """The fast device has 10 and 2 tokens, the slow one 5 and 2, which take it as long as 10 and 4."""
    report = ask()
    assert report.loads.speed == (1.0, 0.5)
    assert report.loads.after == ((10, 5), (2, 2))
    assert (report.objective.after.total, report.loads.largest_after, report.optimal) == (14, 14, True)
    assert (report.objective.before.total, report.loads.mean) == (16, pytest.approx(19 / 1.5))
    assert ExpertReport.from_dict(report.to_dict()).to_dict() == report.to_dict()


def test_prices_are_those_of_the_fastest_device() -> None:
    """A token takes `token_s` there."""
    assert ask(token_s=1e-3).objective.after.total == pytest.approx(14e-3)


def test_the_summary_says_what_loads_are_divided_by() -> None:
    """And the explanation what they are compared with."""
    report = ask()
    assert "\nspeeds " in expert_summary(report)
    assert "0.5 to 1 of the fastest device" in expert_summary(report)
    assert "1.263 before, 1.105 after" in expert_summary(report)
    assert "1.105 times what a division by speed gives" in " ".join(explain_experts(report).limits)


@pytest.mark.parametrize("speed", [1.0, 0.37, 3.0])
def test_equal_speeds_say_nothing(speed: float) -> None:
    """Whatever they are."""
    report = ask((speed, speed))
    assert report.loads.speed is None
    assert report.objective == ask((1.0, 1.0)).objective
    assert "speed" not in expert_summary(report)


def test_links_and_loads_on_unlike_devices_are_one_price() -> None:
    """Recomputed by hand from the slots; the bound is below it."""
    trace = np.random.default_rng(0).integers(0, 8, (200, 3))
    report = ask((1.0, 0.4), trace=trace, kind="trace", experts=8, held_out=0.0, token_s=1e-6, token_bytes=100.0)
    device = np.argsort(report.slots, axis=1) // 4
    load = np.array([np.bincount(device[k][trace[:, k]], minlength=2) for k in range(3)])
    crossing = sum((device[k][trace[:, k]] != device[k + 1][trace[:, k + 1]]).sum() for k in range(2))
    assert report.objective.after.load == pytest.approx(1e-6 * (load / [1.0, 0.4]).max(axis=1).sum())
    assert report.objective.after.links == pytest.approx(crossing * 100 / 1e9 / 2)
    assert report.objective.bound.total <= report.objective.after.total <= report.objective.before.total


def test_a_change_of_a_map_in_use_weighs_speeds() -> None:
    """The busy experts move to the fast device, and the answer says what that gains."""
    report = ask(in_use=np.array([[1, 2, 0, 3], [0, 1, 2, 3]]), token_s=1e-3, expert_bytes=1e6)
    assert report.verdict is not None
    assert (report.verdict.advice, report.verdict.moves) == ("move", 2)
    assert report.objective.before.total == pytest.approx(28e-3)
    assert report.verdict.gain_s == pytest.approx(14e-3)


def test_pictures_are_of_loads_over_speed() -> None:
    """The largest of the second layer is that of the slow device."""
    pytest.importorskip("matplotlib")
    figure = ask().plot("loads")
    heights = [bar.get_height() for axes in figure.axes for bar in axes.patches]
    assert heights[:4] == [12, 4, 10, 4]
