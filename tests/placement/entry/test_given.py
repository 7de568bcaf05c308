"""Tests of the plan of a layout beside the one found."""

import re
from typing import Any

import pytest

import tiger
from tiger.errors import InputError
from tiger.placement.drawing.pictures import list_pictures
from tiger.placement.entry.arguments import PlaceArguments
from tiger.placement.entry.explanation import explain_placement
from tiger.placement.entry.remote import state_placement
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.summary import placement_summary

ROW = {"forward_s": 0.001, "backward_s": 0.002, "parameter_bytes": 1e9, "activation_bytes": 1e6}
KINDS = ("embedding", *["layer"] * 4, "head")
LAYERS: list[dict[str, Any]] = [{"name": f"op{k}", "kind": kind, **ROW} for k, kind in enumerate(KINDS)]
LAYERS[-1] |= {"forward_s": 0.003, "backward_s": 0.006}
MODEL = {"layers": LAYERS}
GPT = "transformer:layers=8,hidden=1024,heads=16,vocabulary=50257,sequence=2048"
# A model of 405B, as Llama 3's paper has it: 126 layers on 16 pipeline ranks, its layout with two stages each on 8.
LLAMA = "transformer:layers=126,hidden=16384,heads=128,kv_heads=8,ffn=53248,gated=true,vocabulary=128256,sequence=8192"
PUBLISHED = "Et*7|(t*8|)*14,t*7L"


def cluster_of(*rooms: float) -> dict[str, object]:
    """Return devices of so many bytes: a message of a layer takes a millisecond."""
    devices = [{"name": f"d{k}", "memory_bytes": room} for k, room in enumerate(rooms)]
    return {"devices": devices, "uniform_bandwidth": 1e9, "uniform_latency": 0}


def test_a_layout_of_two_stages_by_hand() -> None:
    """Three layers and a message on one device, two, the head and a message on the other: the slower takes 17 ms.

    The best is four layers on the first, 14 ms on both, which is 17.6 % quicker.
    """
    report = tiger.place(MODEL, cluster_of(8e9, 8e9), layout="Ett|ttL")
    given = report.given
    assert given is not None
    assert (given.bottleneck_s, report.bottleneck_s) == (pytest.approx(0.017), pytest.approx(0.014))
    assert [stage.compute_s for stage in given.stages] == [pytest.approx(0.009), pytest.approx(0.015)]
    assert [(stage.device, stage.memory_bytes) for stage in given.stages] == [("d0", 3e9), ("d1", 3e9)]
    assert (given.feasible, given.keep, given.saved) == (True, False, pytest.approx(3 / 17))
    times = "change it: TIGER's is 17.6% quicker, 14 ms instead of 17 ms"
    assert given.verdict == f"{times}; 1 of 6 layers move to other devices"
    summary = placement_summary(report)
    assert given.verdict in summary
    assert re.search(r"bottleneck +17 ms +14 ms", summary)
    assert re.search(r"layers of stages +3 x 2 +4, 2", summary)
    assert f"The layout given: {given.verdict}." in explain_placement(report).quality
    assert PlacementReport.from_dict(report.to_dict()).given == given


def test_one_microbatch_by_hand_is_kept() -> None:
    """Every pipeline of two takes all passes one after another and a message both ways: 26 ms."""
    report = tiger.place(MODEL, cluster_of(8e10, 8e10), schedule="1f1b", microbatches=1, layout="3,1")
    assert report.given is not None
    assert report.given.iteration_s == report.iteration_s == pytest.approx(0.026)
    assert (report.given.keep, report.given.verdict) == (True, "keep yours: no quicker plan was found")
    assert report.given.bubble == pytest.approx(report.bubble, abs=0.5)
    assert [(link.a, link.b, link.sent_bytes) for link in report.given.links] == [("d0", "d1", 2e6)]
    assert "--emit" not in placement_summary(report)


def test_a_layout_that_does_not_fit_says_by_how_much() -> None:
    """The second device has room for two layers; the plan found has four on the first."""
    report = tiger.place(MODEL, cluster_of(8e9, 2.5e9), layout="[0, 3, 6]")
    assert report.feasible
    assert report.given is not None
    assert (report.given.feasible, report.given.keep, report.given.saved) == (False, False, None)
    assert [fault.kind for fault in report.given.violations] == ["memory"]
    assert "  memory: it lacks memory on 1 of 2 devices in a row, most on 'd1': 500 MB\n" in placement_summary(report)
    neither = tiger.place(MODEL, cluster_of(1e9, 1e9), layout="[0, 3, 6]")
    assert neither.given is not None
    assert neither.given.verdict == "yours does not fit, and none was found that does"
    assert neither.given.verdict in placement_summary(neither)
    pinned = tiger.place(MODEL, cluster_of(8e9, 8e9), layout="[0, 3, 6]", pinned={"op0": "d1"})
    assert pinned.given is not None
    assert [fault.kind for fault in pinned.given.violations] == ["pinned"]


@pytest.mark.parametrize("schedule", [None, "1f1b", "interleaved"])
def test_the_plan_found_is_never_slower_than_one_that_fits(schedule: Any) -> None:
    """The layout of the best plan comes back as good as it was, in little time, with the number of positions it has."""
    options: dict[str, Any] = {"schedule": schedule, "microbatches": schedule and 16}
    good = tiger.place(GPT, "dgx:1", pipeline=4, effort=2, **options)
    again = tiger.place(GPT, "dgx:1", layout=good.emit("megatron"), time_limit_s=0.01, **options)
    assert again.given is not None
    assert [stage.ops for stage in again.given.stages] == [stage.ops for stage in good.stages]
    before, after = (good.iteration_s, again.iteration_s) if schedule else (good.bottleneck_s, again.bottleneck_s)
    assert before is not None
    assert after is not None
    assert after <= before * (1 + 1e-9)
    assert again.virtual == good.virtual


def test_stages_of_a_device_follow_from_the_pipeline() -> None:
    """Eight stages on two devices are four each; without the pipeline they are two each, as interleaved ones are."""
    layout = "Et|(t|)*6,tL"
    stated = tiger.place(GPT, "dgx:1", schedule="interleaved", pipeline=2, microbatches=4, layout=layout)
    free = tiger.place(GPT, "dgx:1", schedule="interleaved", microbatches=4, layout=layout)
    for report, virtual, second in ((stated, 4, "m0.gpu1"), (free, 2, "m0.gpu1")):
        assert report.given is not None
        assert report.virtual == virtual
        assert (report.given.stages[1].device, len(report.given.stages)) == (second, 8)
    assert free.given is not None
    assert free.given.stages[3].device == "m0.gpu3"


@pytest.mark.slow
def test_a_published_layout_of_llama_405b() -> None:
    """Sixteen stages on eight devices in a row, each of eight ranks: eight layers each, of which one is E or L."""
    setup: dict[str, Any] = {"tensor": 8, "pipeline": 8, "recompute": "full", "sharding": "zero-1"}
    setup |= {"schedule": "interleaved", "microbatches": 16, "time_limit_s": 5}
    report = tiger.place(LLAMA, "dgx:8", layout=PUBLISHED, **setup)
    given = report.given
    assert given is not None
    assert [len(stage.ops) for stage in given.stages] == [8] * 16
    assert (given.stages[8].device, report.virtual) == ("m0.gpu0", 2)
    assert given.stages[0].devices == (tuple(f"m0.gpu{k}" for k in range(8)),)
    assert given.iteration_s is not None


@pytest.mark.parametrize(
    ("options", "field", "reason"),
    [
        ({"layout": "Ett|tt"}, "layout", "expected 1 head (L), as the model has, got 0"),
        ({"layout": "Et|t|t|tL"}, "layout", "expected at most 2 devices in a row of 2, got 4"),
        ({"layout": "Et|t|ttL", "pipeline": 2}, "layout", "expected one stage for each of 2 devices in a row, got 3"),
        (
            {"layout": "Et|t|ttL", "schedule": "interleaved"},
            "layout",
            "expected 2 stages for each of a number of devices in a row, got 3 stages",
        ),
        (
            {"layout": "Et|t|t|tL", "schedule": "interleaved", "microbatches": 3},
            "microbatches",
            "expected a multiple of 2, the devices of an interleaved pipeline, got 3",
        ),
        ({"layout": "[0, 6]", "mode": "dag"}, "layout", "expected the mode chain beside it"),
    ],
)
def test_layouts_of_something_else_are_refused(options: dict[str, Any], field: str, reason: str) -> None:
    """The error names what does not fit."""
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        tiger.place(MODEL, cluster_of(8e9, 8e9), **options)
    assert caught.value.field == field


def test_pictures_show_both_plans() -> None:
    """Timeline and memory over time; those of a service are drawn as well."""
    options: dict[str, Any] = {"schedule": "1f1b", "microbatches": 4, "layout": "[0, 3, 6]"}
    cluster = cluster_of(8e10, 8e10)
    here = tiger.place(MODEL, cluster, **options)
    asked = state_placement(PlaceArguments(MODEL, cluster, **options))
    assert asked.document["layout"] == "[0, 3, 6]"
    there = asked.complete(PlacementReport.from_dict(here.to_dict()))
    for report in (here, there):
        assert {"given-gantt", "given-memory", "given-loads", "gantt"} <= list_pictures(report).keys()
        assert report.given_report is not None
        assert "parts = [0, 3, 6]" in report.given_report.emit("deepspeed")
    assert "given-gantt" not in list_pictures(tiger.place(MODEL, cluster, schedule="1f1b"))
