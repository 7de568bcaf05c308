"""Tests of what is said to make a model fit."""

from dataclasses import replace

import numpy as np
import pytest

import tiger
from tiger.placement.entry.explanation import explain_placement
from tiger.placement.entry.remedies import find_remedies
from tiger.placement.entry.summary import placement_summary
from tiger.placement.params import PlaceParams
from tiger.planning.explanation import explain_plan
from tiger.planning.summary import plan_summary
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.sizes import model_of

SHAPE = {"layers": 4, "hidden": 64, "heads": 4, "vocabulary": 100, "sequence": 32, "batch": 2, "flops": 1e9}
# Of an even pipeline of two: the embedding and two layers, of which two microbatches are held.
STATE = 18 * (132 * 64 + 2 * (12 * 64**2 + 13 * 64))
KEPT = 2 * (2 * 34 * 64 * 64 + 64 * 64)


def cluster_of(room: float) -> Cluster:
    """Return four devices of as many bytes."""
    return Cluster(
        names=tuple("abcd"),
        speed=np.ones(4),
        memory_bytes=np.full(4, room),
        curves=(Curve.affine(1e9, 1e-6),),
        link=np.zeros((4, 4), np.int64),
    )


def test_every_option_is_said_with_what_it_saves() -> None:
    """By hand, for two replicas of a pipeline of two; those that fit stand first, the largest of both first."""
    params = PlaceParams(schedule="1f1b", pipeline=2, data=2)
    model = model_of({"transformer": SHAPE})
    room = STATE + KEPT - 12 / 18 * STATE / 2
    found = find_remedies(model, cluster_of(room), params, 2)
    saved = {(each.option, each.value): each.saved_bytes for each in found}
    assert saved["sharding", "zero-1"] == pytest.approx(12 / 18 * STATE / 2)
    assert saved["recompute", "full"] == pytest.approx(2 * 2 * 32 * 64 * 64 - 32 * 64 * 64)
    assert saved["gradients", "bf16"] == pytest.approx(2 / 18 * STATE)
    assert saved["optimizer", "adam-8bit"] == pytest.approx(6 / 18 * STATE)
    assert saved["batch", "1"] == pytest.approx(KEPT / 2)
    assert "selective" not in {value for _, value in saved}
    some = find_remedies(model, cluster_of(room), replace(params, recompute="full", recompute_layers=1), 2)
    more = {each.option: (each.value, each.saved_bytes) for each in some}["recompute_layers"]
    assert more == ("2", pytest.approx(2 * (34 - 2) * 64 * 64))
    fits = [each.fits for each in found]
    assert fits == sorted(fits, reverse=True)
    assert ("sharding", "zero-1") in {(each.option, each.value) for each in found if each.fits}


def test_a_model_that_does_not_fit_says_what_would_help() -> None:
    """In the report, in the summary and in the explanation; with that option it does fit."""
    model, cluster = {"transformer": SHAPE}, cluster_of(STATE)
    asked = {"schedule": "1f1b", "pipeline": 2, "data": 2}
    report = tiger.place(model, cluster, **asked)
    assert not report.feasible
    assert str(report.remedies[0]).endswith("a device and fits")
    assert str(report.remedies[0]) in placement_summary(report)
    assert f"{report.remedies[0]}." in explain_placement(report).advice
    assert tiger.place(model, cluster, **asked, sharding="zero-1").feasible
    assert tiger.place(model, cluster_of(1e9), **asked).remedies == ()


def test_a_plan_that_may_not_share_anything_says_what_would_help() -> None:
    """The closest choice, by what it holds alone; a search that may share finds a plan."""
    model, cluster = {"transformer": SHAPE}, cluster_of(0.8 * STATE)
    asked = {"batch": 4, "pipeline": 2, "tensor": 1, "data": 2, "recompute": "full"}
    report = tiger.plan(model, cluster, **asked, sharding="none")
    assert not report.feasible
    assert "sharding" in {each.option for each in report.remedies}
    assert str(report.remedies[0]) in plan_summary(report)
    assert f"{report.remedies[0]}." in explain_plan(report).advice
    found = tiger.plan(model, cluster, **asked)
    assert found.degrees is not None
    assert found.degrees.sharding != "none"


def test_nothing_is_said_of_layers_whose_state_has_no_known_parts() -> None:
    """Those of a table, and of a served model; nor without a schedule."""
    params = PlaceParams(schedule="1f1b", pipeline=2, data=2)
    cluster = cluster_of(1.0)
    model = model_of({"transformer": SHAPE})
    assert find_remedies(model_of(model.given), cluster, params, 1) == ()
    assert find_remedies(model_of({"transformer": SHAPE | {"serve": True}}), cluster, params, 2) == ()
    assert find_remedies(model, cluster, replace(params, schedule=None), 2) == ()
    assert model.layers_for(TrainingSetup()).size == 6


def test_a_smaller_microbatch_of_a_plan_leaves_the_batch() -> None:
    """Under GPipe all microbatches of it are held at once, so that nothing is saved but for a placement."""
    model, cluster = model_of({"transformer": SHAPE}), cluster_of(1.0)
    params = PlaceParams(schedule="gpipe", pipeline=2, microbatches=4)
    assert "batch" in {each.option for each in find_remedies(model, cluster, params, 2)}
    assert "microbatch" not in {each.option for each in find_remedies(model, cluster, params, 2, "microbatch")}
