"""Tests of `tiger.experts` on devices whose speeds or memory differ."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiger
from tests.fuzz.profile import cases
from tiger.errors import InputError
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


def pair(*memory: float, speeds: tuple[float, ...] = (1.0, 1.0)) -> dict[str, Any]:
    """Return a cluster of devices by their memory."""
    return cluster(speeds, memory_bytes=memory)


def test_small_devices_have_fewer_slots() -> None:
    """As memory holds them: of eight experts in both layers three on the second, and its loads by hand."""
    report = ask(cluster=pair(10e9, 3e9), expert_bytes=1e9)
    assert report.feasible
    assert [sum(row[1] for row in report.slots_of_devices or ())] == [3]
    assert [(stage.memory_bytes, stage.capacity_bytes) for stage in report.stages] == [(5e9, 10e9), (3e9, 3e9)]
    for layer, (row, loads) in enumerate(zip(report.slots, report.loads.after, strict=True)):
        cut = (report.slots_of_devices or ())[layer][0]
        assert sorted(row) == [0, 1, 2, 3]
        assert loads == tuple(LOADS[layer][list(part)].sum() for part in (row[:cut], row[cut:]))


def test_memory_that_is_enough_changes_nothing() -> None:
    """Also where only just, beside what is reserved."""
    report = ask(cluster=pair(5e9, 5e9), expert_bytes=1e9, reserved_bytes=1e9)
    assert (report.slots_of_devices, report.stages[0].capacity_bytes) == (None, 4e9)
    assert (report.slots, report.objective) == (ask((1.0, 1.0)).slots, ask((1.0, 1.0)).objective)


def test_what_does_not_fit_is_told_in_numbers() -> None:
    """And nothing is placed, emitted or called optimal."""
    report = ask(cluster=pair(5e9, 3e9), expert_bytes=1e9, reserved_bytes=1e9)
    assert (report.feasible, report.slots, report.stages, report.optimal) == (False, (), (), False)
    assert [violation.message for violation in report.violations] == [
        "4 replicas of 1 GB in each of 2 layers, 8 in all, take 8 GB, and devices have room for 6: "
        "1 x 4 GB for 4 each, 1 x 2 GB for 2 each"
    ]
    assert report.headline == "infeasible: no map of experts meets"
    assert expert_summary(report).startswith("infeasible: no map of experts meets\n  memory: 4 replicas of 1 GB")
    assert "Take fewer --replicas" in explain_experts(report).advice[0]
    with pytest.raises(InputError, match="emit: expected a map that fits into memory"):
        report.emit("vllm")
    assert ExpertReport.from_dict(report.to_dict()).to_dict() == report.to_dict()


@pytest.mark.parametrize("changes", [{"in_use": np.array([[0, 1, 2, 3]] * 2)}, {"groups": 2}])
def test_maps_in_use_and_groups_need_equal_slots(changes: dict[str, Any]) -> None:
    """So that the smallest device decides."""
    devices = pair(10e9, 3e9)
    for k, device in enumerate(devices["devices"]):
        device["machine"] = k
    report = ask(cluster=devices, expert_bytes=1e9, **changes)
    assert [violation.message for violation in report.violations] == [
        "'g1' has 3 GB for 4 replicas of 1 GB, 4 GB; groups and maps in use need as many slots on every device"
    ]


def test_slots_by_speed_let_loads_follow_it() -> None:
    """With as many on each device, three fast ones cannot have enough of equal loads."""
    equal, free = (
        ask((1.0, 1.0, 1.0, 0.25), trace=np.ones((2, 32)), slots_by=slots_by) for slots_by in ("device", "speed")
    )
    assert (equal.objective.after.total, free.objective.after.total) == (64, 20)
    assert free.slots_of_devices == ((10, 10, 10, 2), (10, 10, 10, 2))
    assert free.optimal


def test_maps_of_unlike_slots_are_in_no_file() -> None:
    """Of any system."""
    report = ask(cluster=pair(10e9, 3e9), expert_bytes=1e9)
    with pytest.raises(InputError, match="emit: expected as many slots on every device for vllm, got from 1 to 3"):
        report.emit("vllm")
    assert "\nslots " in expert_summary(report)
    assert "g1, experts of 3 GB in 3 GB\n" in expert_summary(report)
    assert "no file of a system" in explain_experts(report).advice[-1]


def test_links_count_between_devices_of_unlike_slots() -> None:
    """Recomputed token by token; nothing is on both devices, and all is somewhere."""
    trace = np.random.default_rng(0).integers(0, 8, (200, 3))
    trace[:, 1] = np.where(trace[:, 0] < 6, (trace[:, 0] + 1) % 6, trace[:, 1])
    report = ask(
        cluster=pair(100.0, 7.0), trace=trace, kind="trace", experts=8, held_out=0.0, token_bytes=10.0, expert_bytes=1.0
    )
    device = np.empty((3, 8), np.int64)
    for layer, row in enumerate(report.slots):
        cut = (report.slots_of_devices or ())[layer][0]
        device[layer][list(row)] = np.arange(8) >= cut
    assert (device == 1).sum() == 7
    crossing = sum((device[k][trace[:, k]] != device[k + 1][trace[:, k + 1]]).sum() for k in range(2))
    assert report.objective.after.links == pytest.approx(crossing * 10 / 1e9 / 2)
    assert report.placed is not None
    assert report.placed.crossing == pytest.approx(crossing / 400)
    assert report.objective.after.total <= report.objective.before.total


@given(data=st.data())
@cases(quick=20, long=1_000)
def test_no_map_exceeds_memory_or_leaves_an_expert_out(data: st.DataObject) -> None:
    """Loads are those of the slots, and none is below the bound; what does not fit has not enough room."""
    layers, experts, gpus = (data.draw(st.integers(1, most)) for most in (3, 6, 4))
    replicas = data.draw(st.integers(0, 2)) * gpus + -experts % gpus
    memory = data.draw(st.lists(st.integers(0, 20), min_size=gpus, max_size=gpus))
    speeds = data.draw(st.lists(st.sampled_from([1.0, 0.37, 2.0]), min_size=gpus, max_size=gpus))
    weight = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 9, (layers, experts)).astype(float)
    options = {"replicas": replicas, "duplicates": 4, "slots_by": data.draw(st.sampled_from(["device", "speed"]))}
    if experts + replicas > 4 * gpus * experts:
        return
    devices = cluster(tuple(speeds), memory_bytes=[max(size, 0) for size in memory])
    report = tiger.experts(weight, devices, kind="loads", expert_bytes=1.0, **options)
    room = [min(size, layers * experts * 4) for size in memory]
    assert report.feasible == (sum(room) >= layers * (experts + replicas))
    if not report.feasible:
        return
    counts = report.slots_of_devices or (((experts + replicas) // gpus,) * gpus,) * layers
    assert (np.sum(counts, axis=0) <= memory).all()
    for layer, row in enumerate(report.slots):
        number = np.bincount(row, minlength=experts)
        assert number.min() >= 1
        parts = np.split(np.array(row), np.cumsum(counts[layer])[:-1])
        loads = [float((weight[layer] / number)[part].sum()) for part in parts]
        assert report.loads.after[layer] == pytest.approx(loads)
        assert all(len(part) == 0 or np.bincount(part).max() <= 4 for part in parts)
        bound = (report.loads.bound or ())[layer]
        assert bound <= max(np.array(loads) / (np.array(speeds) / max(speeds))) * (1 + 1e-9)
