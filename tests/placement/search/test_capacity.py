"""The most sequences at once, for groups of devices and where time is short."""

from dataclasses import replace

import numpy as np
import pytest

import tiger
from tiger.placement.params import PlaceParams
from tiger.placement.search.capacity import fit_most_sequences
from tiger.placement.search.memory_split import count_sequences
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.reading import read_model

MODEL = "llama-3-8b:serve=true,sequence=4096"


def test_groups_share_what_they_hold() -> None:
    """Two pairs of equal cards: each has half of a layer's weights, and four of eight heads of the cache."""
    report = tiger.place(MODEL, "rtx4090:1x4", objective="cache", tensor=2)
    layers = report.deployment.layers
    held = [sum(layers.state_bytes[layers.names.index(op)] for op in stage.ops) / 2 for stage in report.stages]
    assert held == pytest.approx([stage.memory_bytes for stage in report.stages])
    assert max(held) <= 24e9
    assert 0 < report.serving.sequences <= report.serving.most_sequences


def test_a_stop_leaves_a_number_that_fits_and_a_bound() -> None:
    """That of the split by memory or the uniform plan, as no other is tried, and nothing is ruled out."""
    layers, cluster = read_model(MODEL), read_cluster("rtx4090:2")
    found = fit_most_sequences(layers, cluster, PlaceParams(objective="cache"), lambda: True)
    assert found.plan is not None
    assert (found.sequences, found.most) == (count_sequences(layers, cluster, found.plan), 10**9)


def test_devices_that_differ_are_tried_in_some_orders() -> None:
    """Thirty speeds, memories and links are too many to compare; what is found fits, and the bound is no less."""
    rng = np.random.default_rng(3)
    cluster = read_cluster("rtx4090:1x30")
    memory = rng.uniform(1e9, 3e9, 30)
    odd = replace(cluster, memory_bytes=memory, speed=rng.uniform(0.1, 1, 30))
    found = fit_most_sequences(read_model(MODEL), odd, PlaceParams(objective="cache"))
    assert found.plan is not None
    held = np.add.reduceat(found.layers.state_bytes, found.plan.cuts[:-1])
    assert (held <= memory[found.plan.grid.ravel()] * (1 + 1e-9)).all()
    assert 0 < found.sequences <= found.most


def test_no_room_for_one_is_infeasible() -> None:
    """With the memory that is missing."""
    report = tiger.place("llama-3-70b:serve=true,sequence=4096", "rtx4090:1x2", objective="cache")
    assert (report.feasible, [each.kind for each in report.violations]) == (False, ["memory"])


def test_bug_time_that_is_up_leaves_the_room_of_the_plan() -> None:
    """A plan that ran was reported to have room for no sequence, less than the split beside it."""
    report = tiger.place(MODEL, "rtx4090:1x4", objective="cache", time_limit_s=1e-9)
    figures = report.serving
    assert figures.sequences >= figures.split.sequences > 0
    assert all(stage.memory_bytes <= stage.capacity_bytes for stage in report.stages)
    assert report.deployment.layers.served.sequences == figures.sequences
