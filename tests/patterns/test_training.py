"""The bytes of an iteration of training."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.patterns.spec import build
from tiger.patterns.training import Shape, train

DEGREE = st.integers(1, 4)


def group_sums(shape: Shape) -> np.ndarray:
    """Return the bytes between two ranks that differ in tp, in pp and in dp alone, [3, sending rank]."""
    ranks = shape.tp * shape.pp * shape.dp
    spec = ",".join(f"{name}={getattr(shape, name)}" for name in Shape.__dataclass_fields__ if getattr(shape, name))
    traffic = build(f"parallel:{spec}").traffic.toarray()
    rank = np.arange(ranks)
    places = np.array([rank % shape.tp, rank // (shape.tp * shape.dp), rank // shape.tp % shape.dp])
    differs = places[:, :, None] != places[:, None, :]
    assert not traffic[differs.sum(0) != 1].any()
    return np.array([(traffic * differs[k]).sum(1) for k in range(3)])


@given(tp=DEGREE, pp=DEGREE, dp=DEGREE, per_stage=DEGREE, batch=DEGREE, microbatches=DEGREE)
def test_groups_send_the_bytes_of_the_formulas(tp, pp, dp, per_stage, batch, microbatches):
    """Ranks talk in groups alone: 8 b s h (t-1)/t a layer and microbatch, and two (d-1)/d of 12 h^2 weights a layer."""
    shape = Shape(tp=tp, pp=pp, dp=dp, layers=pp * per_stage, hidden=6, sequence=5, batch=batch,
                  microbatches=microbatches, bytes=2)  # fmt: skip
    tensor, pipeline, data = group_sums(shape)
    activation = 2.0 * microbatches * batch * 5 * 6
    assert np.allclose(tensor, 8 * activation * (tp - 1) / tp * per_stage)
    assert np.isclose(pipeline.sum(), 2 * activation * (pp - 1) * dp)
    assert np.allclose(data, 2 * (dp - 1) / dp * 12 * 6**2 * per_stage / tp * 2)


def test_ranks_are_numbered_as_in_megatron():
    """16 ranks, tp=2 and pp=4: the groups of the example in the documentation of initialize_model_parallel."""
    traffic = build("parallel:tp=2,pp=4,dp=2").traffic.toarray()
    assert np.flatnonzero(traffic[4]).tolist() == [0, 5, 6, 8]


def test_four_microbatches_a_stage_by_default():
    """GPT-3 with 175 billion parameters, for which 12 h^2 weights a layer leave out embeddings."""
    assert Shape(pp=8).activation_bytes == 32 * 2048 * 12288 * 2
    assert Shape().gradient_bytes / 2 == pytest.approx(174e9, rel=1e-2)


def test_a_single_rank_sends_nothing():
    """There is no one to talk to."""
    assert train(Shape()).messages == 0
    assert list(train(Shape()).blocks()) == []
