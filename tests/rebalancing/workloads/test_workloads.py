"""Tests of simulated workloads: what they say at the start and in the end, their seeds, and bad parameters."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.rebalancing.workloads.spec import WORKLOADS, trajectory_of, workload_of
from tiger.training.models.reading import read_model


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKLOADS)
def test_the_same_seed_has_the_same_factors(name: str) -> None:
    """Finite ones, none below 0, for every interval and layer."""
    first, again = workload_of(name).trajectory(12), workload_of(name).trajectory(12)
    assert first.forward.shape == first.backward.shape == (40, 12)
    assert np.isfinite(first.forward).all()
    assert (first.backward >= 0).all()
    assert np.array_equal(first.forward, again.forward)


@pytest.mark.parametrize("name", ["sparse-attention", "moe", "mod"])
def test_another_seed_has_other_factors(name: str) -> None:
    """0 is a seed too."""
    drawn = [workload_of(f"{name}:seed={seed}").trajectory(12).forward for seed in (0, 1)]
    assert not np.array_equal(*drawn)


def test_pruning_leaves_the_share_of_weights() -> None:
    """Of layers alike, whose time is their density: 1 at first, 10 % at last."""
    factors = workload_of("pruning:spread=0,sparse=1,useful=1").trajectory(8).forward
    assert factors[0] == pytest.approx(1.0)
    assert factors[-1] == pytest.approx(0.1)


def test_frozen_layers_have_no_backward_pass() -> None:
    """From the first on, none before a fifth of the run, and then up to three quarters."""
    course = workload_of("freezing:forward=0.5,intervals=100").trajectory(8)
    assert (course.backward[:20] == 1).all()
    assert course.backward[-1].tolist() == [0] * 6 + [1] * 2
    assert course.forward[-1].tolist() == [0.5] * 6 + [1] * 2


def test_tokens_leave_until_a_mean_share_is_left() -> None:
    """All go through the first two layers."""
    factors = workload_of("early-exit:survival=0.3").trajectory(24).forward
    assert factors[0] == pytest.approx(1.0)
    assert factors[-1].mean() == pytest.approx(0.3)
    assert factors[-1, :2] == pytest.approx(1.0)


def test_a_block_of_full_attention_wanders() -> None:
    """An eighth of the layers further in each quarter."""
    factors = workload_of("sparse-attention").trajectory(16).forward
    assert [np.flatnonzero(row == 1).tolist() for row in factors[::10]] == [[0], [2], [4], [6]]


def test_experts_wait_for_the_busiest() -> None:
    """Without skew layers take what they took; every other layer of a mixture of depths sees an eighth of tokens."""
    assert workload_of("moe:skew=0").trajectory(4).forward == pytest.approx(1.0)
    assert workload_of("mod:jitter=0").trajectory(4).forward[0].tolist() == [1, 0.125, 1, 0.125]


def test_embedding_and_head_stay() -> None:
    """Factors are of decoder layers alone."""
    layers = read_model("transformer:layers=4,hidden=64,heads=4,vocabulary=100,sequence=32")
    times = trajectory_of("early-exit:intervals=3,ramp=0", layers)
    assert times.shape == (3, 2, 6)
    assert times[-1, 0, [0, -1]].tolist() == layers.forward_s[[0, -1]].tolist()
    assert times[-1, 1, 4] < layers.backward_s[4]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ("prunning", "workload"),
        ("pruning:sparsity", "workload"),
        ("pruning:sparsity=0.5,sparsity=0.5", "workload"),
        ("pruning:seed=1", "workload"),
        ("pruning:sparsity=2", "workload/sparsity"),
        ("pruning:sparsity=nan", "workload/sparsity"),
        ("pruning:sparsity=x", "workload/sparsity"),
        ("moe:intervals=0", "workload/intervals"),
        ("moe:intervals=2.5", "workload/intervals"),
        ("moe:seed=99999999999", "workload/seed"),
    ],
)
def test_bad_workloads_name_the_field(spec: str, field: str) -> None:
    """Parameters of the wrong name, kind or size."""
    with pytest.raises(InputError) as error:
        workload_of(spec)
    assert error.value.field == field


def test_bug_models_without_decoder_layers_are_refused() -> None:
    """Nothing in them changes, and pruning failed on no layers."""
    layers = read_model("transformer:layers=4,hidden=64,heads=4,vocabulary=100,sequence=32")
    with pytest.raises(InputError, match="workload: expected a model with decoder layers"):
        trajectory_of("pruning", replace(layers, kinds=("head",) * layers.size))


def test_too_many_numbers_are_refused() -> None:
    """Intervals times layers have an end."""
    layers = read_model("transformer:layers=1000,hidden=64,heads=4,vocabulary=100,sequence=32")
    with pytest.raises(InputError, match="workload/intervals: expected at most"):
        trajectory_of("mod:intervals=10000", layers)
