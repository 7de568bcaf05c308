"""Tests of the plan that people write by hand."""

from dataclasses import replace

import numpy as np

from tiger.planning.choices import Family
from tiger.planning.heuristic import usual_plan
from tiger.planning.params import PlanParams
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model, model_of

PARAMS = PlanParams(batch=8)


def test_layers_are_cut_inside_machines_and_replicas_take_the_rest(large: tuple[Model, Cluster]) -> None:
    """Two ranks a layer; 168 bytes of 200 on each leave no need for a pipeline, so that there are two replicas."""
    usual = usual_plan(*large, PARAMS)
    assert usual is not None
    assert usual.choice.family == Family(tensor=2, data=2, microbatch=1, microbatches=4)
    assert (usual.choice.pipeline, usual.choice.schedule) == (1, "1f1b")


def test_the_pipeline_is_as_deep_as_memory_asks_for(large: tuple[Model, Cluster]) -> None:
    """With 100 bytes the six layers need two positions."""
    model, cluster = large
    usual = usual_plan(model, replace(cluster, memory_bytes=np.full(4, 100.0)), PARAMS)
    assert usual is not None
    assert usual.choice.shape == (2, 1, 2)
    assert usual.plan is not None
    assert usual.plan.cuts == (0, 3, 6)


def test_there_is_none_where_it_does_not_fit(large: tuple[Model, Cluster]) -> None:
    """At any depth."""
    model, cluster = large
    assert usual_plan(model, replace(cluster, memory_bytes=np.full(4, 10.0)), PARAMS) is None
    assert usual_plan(model, cluster, PlanParams(batch=8, data=3)) is None


def test_what_is_given_is_kept_to(large: tuple[Model, Cluster]) -> None:
    """Degrees and the schedule."""
    usual = usual_plan(*large, PlanParams(batch=8, tensor=1, pipeline=2, schedule="gpipe"))
    assert usual is None or (usual.choice.shape, usual.choice.schedule) == ((2, 2, 1), "gpipe")
    roomy = replace(large[1], memory_bytes=np.full(4, 1e3))
    usual = usual_plan(large[0], roomy, PlanParams(batch=8, tensor=1, pipeline=2, schedule="gpipe"))
    assert usual is not None
    assert (usual.choice.shape, usual.choice.schedule) == ((2, 2, 1), "gpipe")


def test_microbatches_have_the_best_size(shape: dict[str, object], large: tuple[Model, Cluster]) -> None:
    """Here as large as can be, as every message waits a while and nothing is a pipeline."""
    roomy = replace(large[1], memory_bytes=np.full(4, 1e12))
    usual = usual_plan(model_of(shape), roomy, PlanParams(batch=8))
    assert usual is not None
    assert usual.choice.pipeline == 1
    assert usual.choice.family.microbatches == 1
