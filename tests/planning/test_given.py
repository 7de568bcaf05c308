"""Tests of the plan that somebody has, by its degrees."""

import re
from dataclasses import replace
from typing import Any

import pytest

import tiger
from tests.planning.conftest import cluster_of, layers_of
from tiger.errors import InputError
from tiger.planning.choices import Choice, Family
from tiger.planning.explanation import explain_plan
from tiger.planning.given import choose_given
from tiger.planning.params import PlanOptions
from tiger.planning.pictures import list_pictures
from tiger.planning.report import PlanReport
from tiger.planning.summary import plan_summary
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model, model_of

SHAPE = {"layers": 4, "hidden": 64, "heads": 4, "vocabulary": 100, "sequence": 32, "flops": 1e9}


def choose(text: str, **options: Any) -> tuple[PlanOptions, Choice]:
    """Return the choice of a text for a small transformer on eight devices, and the options with its batch."""
    changed, choice = choose_given(
        model_of({"transformer": SHAPE}), cluster_of((0,) * 8), PlanOptions(given=text, **options)
    )
    assert choice is not None
    return changed, choice


def test_what_is_left_out_is_as_frameworks_have_it() -> None:
    """Replicas on all devices, one stage a device by 1F1B, several interleaved; the batch is that of all plans."""
    options, choice = choose("tp=2")
    assert choice == Choice(family=Family(tensor=2, data=4, microbatch=1, microbatches=8), pipeline=1, schedule="1f1b")
    assert options.batch == 32
    options, choice = choose("tensor=2, pipeline=2, vp=3, mbs=2, gbs=16, sharding=zero-1, recompute=full")
    family = Family(tensor=2, data=2, microbatch=2, microbatches=4, sharding="zero-1", recompute="full")
    assert choice == Choice(family=family, pipeline=2, schedule="interleaved", virtual=3)
    assert options == PlanOptions(given=options.given, batch=16)
    assert choose("pp=2,schedule=zb-v,gbs=8,dp=4", framework="megatron")[0].framework == "megatron"
    assert choose("pp=2,recompute_layers=1")[1].family.setup(options).recompute_layers == 1
    assert choose("pp=2,schedule=interleaved", batch=16)[1].virtual == 2
    assert choose_given(model_of({"transformer": SHAPE}), cluster_of((0,)), PlanOptions()) == (PlanOptions(), None)


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("", "given", "expected KEY=VALUE"),
        ("tp", "given", "expected KEY=VALUE"),
        ("tpp=2", "given", "got 'tpp=2'; did you mean 'tp'?"),
        ("tp=2,tensor=2", "given/tensor", "expected tensor once"),
        ("tp=x", "given/tp", "expected a whole number from 1"),
        ("pp=0", "given/pp", "expected a whole number from 1"),
        ("pp=1.5", "given/pp", "expected a whole number from 1"),
        ("dp=9999999999", "given/dp", "expected a whole number from 1"),
        ("tp=3", "given/tp", "expected a divisor of 4"),
        ("pipeline=5,dp=4", "given/pipeline", "expected tensor 1 x data 4 x pipeline 5 <= 8 devices"),
        ("tp=4,pp=4", "given/tp", "<= 8 devices"),
        ("cp=3", "given/cp", "expected twice it to divide the sequence"),
        ("ep=2", "given/ep", "expected 1, as the model has no experts"),
        ("recompute=none,recompute_layers=2", "given/recompute_layers", "expected none without recompute full, got 2"),
        ("sharding=zero", "given/sharding", "expected one of none, zero-1"),
        ("schedule=2f2b", "given/schedule", "expected one of gpipe"),
        ("vp=2,schedule=1f1b", "given/vp", "expected the schedule interleaved beside it"),
        ("dp=4,mbs=2,gbs=12", "given/gbs", "expected a multiple of 8 (data x microbatch), got 12"),
        (
            "pp=2,vp=2,dp=4,gbs=4",
            "given/pp",
            "expected devices in a row that can run 1 microbatches of a replica, got 2",
        ),
        ("pp=7", "given/pp", "expected at most 6 stages, a layer each, got 7"),
        ("dp=1,gbs=65537", "given/gbs", "expected a whole number from 1 to 65536"),
    ],
)
def test_what_does_not_go_together_is_refused(text: str, field: str, reason: str) -> None:
    """The error names the key as it was written."""
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        choose(text)
    assert caught.value.field == field


def test_a_batch_is_that_of_all_plans() -> None:
    """Whoever states it; two that differ cannot be compared."""
    assert choose("gbs=16", batch=16)[0].batch == 16
    with pytest.raises(InputError, match="given/gbs: expected the batch of 32 that is planned for"):
        choose("gbs=16", batch=32)
    with pytest.raises(InputError, match=r"^batch: expected a multiple of 3 \(data x microbatch\), got 32"):
        choose("dp=3", batch=32)
    with pytest.raises(TypeError, match="given: expected text, got int"):
        choose(5)  # type: ignore[arg-type]  # what callers may give


def test_a_plan_is_reported_beside_the_best(large: tuple[Model, Cluster]) -> None:
    """By hand: one device computes 21 s a microbatch, and no message is sent; two microbatches are twice that."""
    model, cluster = large
    roomy = replace(cluster, memory_bytes=cluster.memory_bytes * 100)
    report = tiger.plan(model.given, roomy, batch=2, given="dp=1")
    given = report.given
    assert given is not None
    assert (given.iteration_s, given.sent_bytes, given.bubble) == (pytest.approx(42.0), 0.0, 0.0)
    assert (given.memory_bytes, given.memory_share) == (6 * 48.0, pytest.approx(288 / 20_000))
    assert report.iteration_s is not None
    assert given.saved == pytest.approx(1 - report.iteration_s / 42)
    assert not given.keep
    assert f"{42 / report.iteration_s:.2f}x as fast as the 42 s of yours" in report.headline
    summary = plan_summary(report)
    assert given.verdict in summary
    assert re.search(r"\nyours +1 x 1 x 1 +1f1b", summary)
    assert f"The plan given: {given.verdict}." in explain_plan(report).quality
    assert PlanReport.from_dict(report.to_dict()).given == given
    list_pictures(report)["plans"]()


@pytest.mark.slow
def test_the_best_plan_is_kept(large: tuple[Model, Cluster]) -> None:
    """And none is ever slower than one given, even one that is not among those tried: three stages a position."""
    model, cluster = large
    roomy = replace(cluster, memory_bytes=cluster.memory_bytes * 100)
    best = tiger.plan(model.given, roomy, batch=8).degrees
    assert best is not None
    text = f"tp={best.tensor},pp={best.pipeline},dp={best.data},schedule={best.schedule},vp={best.virtual}"
    again = tiger.plan(model.given, roomy, batch=8, given=text)
    assert again.given is not None
    assert again.iteration_s is not None
    assert again.given.iteration_s is not None
    assert again.given.keep == (again.given.saved is not None and again.given.saved < 0.02)
    odd = tiger.plan(model.given, roomy, batch=8, given="pp=2,vp=3,dp=1", top=1000)
    assert odd.given is not None
    assert odd.given.iteration_s is not None
    assert odd.iteration_s is not None
    assert odd.lower_bound_s is not None
    assert odd.lower_bound_s <= odd.iteration_s <= odd.given.iteration_s
    assert odd.choices >= tiger.plan(model.given, roomy, batch=8).choices


def test_a_plan_outside_what_is_searched_is_reported_alone(large: tuple[Model, Cluster]) -> None:
    """A schedule that was asked for holds for the plans found, not for the one given."""
    model, cluster = large
    report = tiger.plan(model.given, cluster, batch=8, schedule="gpipe", given="pp=2,dp=1")
    assert report.given is not None
    assert report.given.degrees.schedule == "1f1b"
    assert {plan.degrees.schedule for plan in report.ranked} == {"gpipe"}


def test_a_plan_that_does_not_fit_says_what_would_help() -> None:
    """By how much, and each option alone; where nothing fits, too."""
    model, cluster = {"transformer": SHAPE}, cluster_of((0,) * 4)
    tight = replace(cluster, memory_bytes=cluster.memory_bytes * 0 + 1.5e6)
    report = tiger.plan(model, tight, given="dp=4,gbs=16,mbs=4")
    assert report.feasible
    given = report.given
    assert given is not None
    assert (given.feasible, given.keep, given.saved) == (False, False, None)
    assert given.violations[0].kind == "memory"
    assert "sharding" in {each.option for each in given.remedies}
    summary = plan_summary(report)
    assert given.verdict.startswith("yours does not fit: TIGER's does in ")
    assert str(given.remedies[0]) in summary
    assert f"memory: it {given.violations[0].message}" in summary
    none = tiger.plan(
        Model(layers_of(4)).given, replace(cluster, memory_bytes=cluster.memory_bytes * 0 + 1), given="dp=1"
    )
    assert none.given is not None
    assert none.given.verdict == "yours does not fit, and none was found that does"
    assert none.given.verdict in plan_summary(none)


def test_bug_a_plan_given_hid_quicker_ones() -> None:
    """One that shares nothing out was said to be no slower than the same degrees with shared states."""
    model, cluster = "transformer:layers=4,hidden=1024,heads=8,vocabulary=8000,sequence=1024", "dgx-h100:2"
    alone = tiger.plan(model, cluster, batch=16, pipeline=1)
    beside = tiger.plan(model, cluster, batch=16, pipeline=1, given="dp=16")
    assert beside.iteration_s == alone.iteration_s
