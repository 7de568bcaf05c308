"""The bytes of an iteration of training."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats.patterns.spec import DEGREES, build
from tiger.formats.patterns.training import TrainingPattern, train
from tiger.placement.chain.baselines import uniform_cuts
from tiger.placement.ranks.cost_model import ParallelDegrees
from tiger.placement.ranks.traffic import rank_problem
from tiger.training.hardware.spec import cluster_of_spec
from tiger.training.models import shape as place
from tiger.training.models.transformer import layers_of_shape

DEGREE = st.integers(1, 4)
SMALL = "hidden=6,sequence=12,microbatches=3,batch=2"
# Bytes of the activations of SMALL, and of one layer's gradients outside its experts and of one expert.
ACTIVATION, BLOCK = 3 * 2 * 12 * 6 * 2.0, (8 * 36 + 5 * 6) * 2.0


def shared(experts=0):
    """Return the bytes of a layer's gradients outside its feed-forward blocks, with a router to experts."""
    return (4 * 36 + 8 * 6 + 6 * experts) * 2.0


def group_sums(spec, **degrees):
    """Return what every rank sends to those that differ in tp, in cp or dp, and in pp alone, [3, sending rank]."""
    sizes = [degrees.get(name, 1) for name in ("pp", "dp", "cp", "tp")]
    traffic = build(
        f"parallel:{','.join(f'{name}={n}' for name, n in degrees.items())},{SMALL},{spec}"
    ).traffic.toarray()
    pp, dp, cp, tp = np.unravel_index(np.arange(np.prod(sizes)), sizes)
    places = np.array([tp, cp + dp * degrees.get("cp", 1), pp])
    differs = places[:, :, None] != places[:, None, :]
    assert not traffic[differs.sum(0) != 1].any()
    return np.array([(traffic * differs[k]).sum(1) for k in range(3)])


@given(tp=DEGREE, pp=DEGREE, dp=DEGREE, per_stage=DEGREE)
def test_groups_send_the_bytes_of_the_formulas(tp, pp, dp, per_stage):
    """Ranks talk in groups alone: 8 b s h (t-1)/t a layer and microbatch, and two (d-1)/d of a layer's weights."""
    tensor, data, pipeline = group_sums(f"layers={pp * per_stage}", tp=tp, pp=pp, dp=dp)
    assert np.allclose(tensor, 8 * ACTIVATION * (tp - 1) / tp * per_stage)
    assert np.isclose(pipeline.sum(), 2 * ACTIVATION * (pp - 1) * dp)
    assert np.allclose(data, 2 * (dp - 1) / dp * (shared() + BLOCK) * per_stage / tp)


@given(tp=DEGREE, cp=DEGREE, dp=DEGREE)
def test_keys_and_values_go_around_three_times(tp, cp, dp):
    """In both passes, and their gradients; other messages are of a share of the tokens, gradients on larger rings."""
    tensor, rest, _ = group_sums("layers=2", tp=tp, cp=cp, dp=dp)
    assert np.allclose(tensor, 16 * ACTIVATION / cp * (tp - 1) / tp)
    gradients = 2 * (cp * dp - 1) / (cp * dp) * (shared() + BLOCK) * 2 / tp
    assert np.allclose(rest, 2 * 6 * ACTIVATION / (cp * tp) * (cp - 1) + gradients)


@given(tp=DEGREE, cp=DEGREE, ep=DEGREE, alike=DEGREE, top_k=st.integers(1, 4))
def test_tokens_go_to_their_experts_and_back(tp, cp, ep, alike, top_k):
    """All copies of a token in both passes, but those that stay; gradients of experts where these are alike."""
    dp = ep * alike
    tensor, rest, _ = group_sums(f"layers=1,ep={ep},experts={4 * ep},top_k={top_k}", tp=tp, cp=cp, dp=dp)
    reduced, same, experts = 1 + (top_k if ep > 1 else 1), cp * dp, cp * alike
    assert np.allclose(tensor, 4 * reduced * ACTIVATION / cp * (tp - 1) / tp)
    tokens = 4 * top_k * ACTIVATION / (cp * tp) * (ep - 1) / ep
    gradients = 2 * (same - 1) / same * shared(4 * ep) / tp + 2 * (experts - 1) / experts * 4 * BLOCK / tp
    assert np.allclose(rest, tokens + gradients + 6 * ACTIVATION / (cp * tp) * (cp - 1))


@pytest.mark.parametrize("experts", [{}, {"experts": 4}, {"experts": 4, "top_k": 3}])
def test_bytes_are_those_that_tiger_place_counts(experts):
    """Tensor, pipeline and data parallelism of a GPT with its embedding and head, in equal stages."""
    stated = {"layers": 4, "hidden": 16, "sequence": 8, "batch": 2, "vocabulary": 100, **experts}
    layers = layers_of_shape(place.Shape(heads=4, **stated))
    degrees = ParallelDegrees(pipeline=2, data=4, tensor=2, microbatches=5)
    traffic = rank_problem(layers, cluster_of_spec("dgx:2"), uniform_cuts(layers, 2), degrees).tasks.traffic
    spec = ",".join(f"{name}={number}" for name, number in stated.items())
    found = build(f"parallel:tp=2,dp=4,pp=2,microbatches=5,{spec}").traffic
    # There messages of pipelines have one direction, and the largest number is 1.
    both, counted = found + found.T, traffic + traffic.T
    assert both.toarray() / both.max() == pytest.approx(counted.toarray() / counted.max(), rel=1e-12)
    assert found[0, 8] == 5 * layers.crossing_bytes[1] / 2


def test_ranks_are_numbered_as_in_megatron():
    """16 ranks, tp=2 and pp=4: the groups of the example in the documentation of initialize_model_parallel."""
    traffic = build("parallel:tp=2,pp=4,dp=2").traffic.toarray()
    assert np.flatnonzero(traffic[4]).tolist() == [0, 5, 6, 8]


@pytest.mark.parametrize(("experts", "others"), [(2, [7]), (4, [1, 3, 7])])
def test_experts_are_shared_out_among_neighbours(experts, others):
    """With tp=2, cp=2 and dp=2, ranks of context are 2 apart and replicas 4; experts are shared out 2 apart."""
    traffic = build(f"parallel:tp=2,cp=2,dp=2,ep={experts},experts={experts},wtp=0,wcp=0,wdp=0").traffic
    assert np.flatnonzero(traffic.toarray()[5]).tolist() == others


def test_weights_are_those_of_the_groups():
    """Each multiplies what one kind of group sends, and nothing else."""
    spec = f"parallel:tp=2,cp=2,ep=2,dp=2,pp=2,layers=2,experts=2,{SMALL}"
    parts = [build(spec + "".join(f",w{other}={int(other == name)}" for other in DEGREES)).traffic for name in DEGREES]
    assert all(part.sum() > 0 for part in parts)
    assert np.allclose(sum(parts).toarray(), build(spec).traffic.toarray())
    assert np.allclose((sum(parts) + 1.5 * parts[1]).toarray(), build(f"{spec},wcp=2.5").traffic.toarray())


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("pp=5", "expected layers as a multiple of pp=5, got 96"),
        ("cp=3", "expected sequence as a multiple of cp=3, got 2048"),
        ("dp=2,ep=2", "expected experts as a multiple of ep=2, got 0"),
        ("dp=2,ep=4,experts=4", "expected ep as a divisor of cp x dp = 2, got 4"),
        ("dp=2,experts=4,top_k=5", r"expected top_k up to 4 \(experts\), got 5"),
        ("dp=2,top_k=1", r"expected top_k up to 0 \(experts\), got 1"),
        ("dp=2,wdp=-1", "wdp: expected a number such as 10 or 2.5, got '-1'"),
        ("dp=2,wdp=1,wdp=1", "once each, got 'wdp=1'"),
        ("wdp=1", "expected one of tp, cp, ep, dp, pp at least, got none"),
    ],
)
def test_degrees_divide_what_they_share_out(spec, reason):
    """What does not is named, with both numbers."""
    with pytest.raises(InputError, match=f"tasks: .*{reason}"):
        build(f"parallel:{spec}")


def test_four_microbatches_a_stage_by_default():
    """GPT-3 with 175 billion parameters, of which embeddings are left out."""
    assert TrainingPattern(pp=8).activation_bytes == 32 * 2048 * 12288 * 2
    gradients = TrainingPattern().shared_gradient_bytes[0] + TrainingPattern().expert_gradient_bytes
    assert gradients / 2 == pytest.approx(174e9, rel=1e-2)


def test_a_single_rank_sends_nothing():
    """There is no one to talk to."""
    assert train(TrainingPattern()).messages == 0
    assert list(train(TrainingPattern()).blocks()) == []
