"""Tests of the choices there are."""

from collections.abc import Callable
from dataclasses import replace

from tiger.planning.choices import Choice, Family, batch_of, families, positions, schedules_of
from tiger.planning.params import PlanParams
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.sizes import Model, model_of

Make = Callable[[tuple[int, ...]], Cluster]
FAMILY = Family(tensor=1, data=1, microbatch=1, microbatches=4)


def test_batches_and_layers_are_cut_evenly(model: Model, cluster: Cluster) -> None:
    """Three devices: a layer on one or two, and one or two replicas of four microbatches in all."""
    known = [(each.tensor, each.data, each.microbatches) for each in families(model, cluster, PlanParams(batch=4))]
    assert known == [(1, 1, 4), (1, 2, 2), (2, 1, 4)]


def test_what_is_given_is_not_searched_over(model: Model, cluster: Cluster) -> None:
    """Degrees, and the positions."""
    params = PlanParams(batch=4, tensor=1, data=2, pipeline=1)
    assert [(each.tensor, each.data) for each in families(model, cluster, params)] == [(1, 2)]
    assert list(positions(model, cluster, params, FAMILY)) == [1]
    assert list(positions(model, cluster, PlanParams(pipeline=9), FAMILY)) == []


def test_shapes_have_microbatches_of_several_sizes(shape: dict[str, object], cluster: Cluster) -> None:
    """Powers of two that divide what a replica runs."""
    model, params = model_of(shape), PlanParams(batch=8, tensor=1, data=2, sharding="none", recompute="none")
    assert [(each.microbatch, each.microbatches) for each in families(model, cluster, params)] == [
        (1, 4),
        (2, 2),
        (4, 1),
    ]
    fixed = replace(params, microbatch=2)
    assert [each.microbatch for each in families(model, cluster, fixed)] == [2]


def test_the_lightest_way_to_hold_layers_comes_first(shape: dict[str, object], cluster: Cluster) -> None:
    """Of two replicas what they share out, more and more; nobody shares with a single one, and tables say nothing."""
    model, params = model_of(shape), PlanParams(batch=8, tensor=1, data=2, microbatch=1)
    known = list(families(model, cluster, params))
    assert [(each.sharding, each.recompute) for each in known] == [
        (sharding, recompute) for sharding in ("zero-1", "zero-2", "zero-3") for recompute in ("none", "full")
    ]
    assert known[0].is_lighter(known[3])
    assert not any(first.is_lighter(second) for first, second in ((known[0], known[0]), (known[1], known[2])))
    alone = families(model, cluster, replace(params, data=1))
    assert [(each.sharding, each.recompute) for each in alone] == [("none", "none"), ("none", "full")]
    some = families(model, cluster, replace(params, recompute_layers=2))
    assert {(each.recompute, each.recomputed) for each in some} == {("full", 2)}
    assert len(list(families(Model(model.given), cluster, PlanParams(batch=8, tensor=1, data=2)))) == 1


def test_scores_that_are_kept_may_be_computed_again(shape: dict[str, dict[str, object]], cluster: Cluster) -> None:
    """With full attention, unlike with flash attention."""
    full = model_of({"transformer": shape["transformer"] | {"attention": "full"}})
    known = families(full, cluster, PlanParams(batch=8, tensor=1, data=1, microbatch=1))
    assert [each.recompute for each in known] == ["none", "selective", "full"]


def test_experts_and_long_sequences_are_dealt_out(shape: dict[str, dict[str, object]], cluster_of: Make) -> None:
    """Experts among ranks with the same layers that divide them, sequences as long as 4,096 tokens stay together."""
    long = shape["transformer"] | {"sequence": 16384, "experts": 6}
    params = PlanParams(batch=8, tensor=1, microbatch=1, sharding="none", recompute="none")
    known = families(model_of({"transformer": long}), cluster_of((0, 0, 0, 0)), params)
    assert [(each.data, each.context, each.expert) for each in known] == [
        (1, 1, 1),
        (1, 2, 1),
        (1, 2, 2),
        (1, 4, 1),
        (1, 4, 2),
        (2, 1, 1),
        (2, 1, 2),
        (2, 2, 1),
        (2, 2, 2),
        (4, 1, 1),
        (4, 1, 2),
    ]


def test_one_position_needs_one_schedule(model: Model) -> None:
    """All others take as long there, or hold more."""
    assert [each.schedule for each in schedules_of(model, PlanParams(), FAMILY, 1)] == ["1f1b"]
    assert [each.schedule for each in schedules_of(model, PlanParams(schedule="gpipe"), FAMILY, 1)] == ["gpipe"]


def test_stages_interleave_where_microbatches_come_in_groups(model: Model) -> None:
    """Two stages each at two positions, as there are four layers; at three positions four microbatches do not go."""
    known = [(each.schedule, each.virtual) for each in schedules_of(model, PlanParams(), FAMILY, 2)]
    assert known == [("1f1b", 1), ("zero-bubble", 1), ("zb-v", 2), ("interleaved", 2), ("gpipe", 1)]
    assert "interleaved" not in [each.schedule for each in schedules_of(model, PlanParams(), FAMILY, 3)]
    assert [each.virtual for each in schedules_of(model, PlanParams(schedule="interleaved", virtual=1), FAMILY, 2)] == [
        1
    ]


def test_a_framework_has_schedules_of_its_own(model: Model) -> None:
    """Of those that are searched over; one that is named is checked before."""
    for framework, known in {"megatron": ["1f1b", "interleaved"], "vllm": ["1f1b"]}.items():
        found = schedules_of(model, PlanParams(framework=framework), FAMILY, 2)
        assert [each.schedule for each in found] == known
    found = schedules_of(model, PlanParams(framework="torch"), FAMILY, 2)
    assert [each.schedule for each in found] == ["1f1b", "zb-v", "interleaved", "gpipe"]


def test_the_batch_is_four_microbatches_a_device(model: Model, cluster: Cluster) -> None:
    """Or the next number that the degrees divide."""
    assert batch_of(model, cluster, PlanParams()) == 12
    assert batch_of(model, cluster, PlanParams(data=5)) == 15
    assert batch_of(model, cluster, PlanParams(batch=7)) == 7


def test_a_choice_in_words() -> None:
    """Sizes of microbatches and stages of a position are said where they are not one."""
    choice = Choice(
        family=Family(tensor=2, data=3, microbatch=4, microbatches=8), pipeline=1, schedule="interleaved", virtual=2
    )
    words = "pipeline 1 x tensor 2 x data 3, interleaved with 2 stages a position, 8 microbatches of 4"
    assert str(choice) == words
    assert choice.passes == 16
    wide = replace(choice.family, context=2, expert=4, sharding="zero-1", recompute="full")
    words = "pipeline 1 x tensor 2 x data 3 x context 2 x expert 4, interleaved with 2 stages a position"
    assert str(replace(choice, family=wide)) == f"{words}, 8 microbatches of 4, zero-1, full recomputation"
