"""Tests of what no plan of a family goes below."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tiger.placement.chain.baselines import uniform_cuts
from tiger.planning.attempt import make_evaluator
from tiger.planning.choices import Choice, Family
from tiger.planning.family_bounds import FamilyBounds
from tiger.planning.links import LinkCurves
from tiger.planning.params import PlanParams
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.setup import Recompute, Sharding
from tiger.training.models.shape import Shape
from tiger.training.models.sizes import Model
from tiger.training.models.transformer import layers_of_shape
from tiger.training.schedules.pass_orders import Schedule, pipelines_of, stages_each, style_of

Make = Callable[[tuple[int, ...]], Cluster]


def floors_of(model: Model, cluster: Cluster, family: Family) -> FamilyBounds:
    """Return the floors of a family."""
    return FamilyBounds.of(model.given, cluster, LinkCurves.of(cluster), family)


def test_devices_that_never_wait_take_as_long_as_the_work(model: Model, cluster: Cluster) -> None:
    """Four microbatches of 15 s on three devices: 20 s; but the last layer alone takes 24 s."""
    floors = floors_of(model, cluster, Family(tensor=1, data=1, microbatch=1, microbatches=4))
    assert [floors.work_s(count) for count in (1, 2, 3)] == pytest.approx([60, 30, 24])


def test_rings_of_a_stage_do_not_all_lie_within_a_machine(cluster_of: Make, model: Model) -> None:
    """Of two by two devices, either the cut layers talk between machines or the replicas do."""
    floors = floors_of(model, cluster_of((0, 0, 1, 1)), Family(tensor=2, data=2, microbatch=1, microbatches=1))
    # Two calls of 2 bytes at 1 byte a message, in two steps each; 2.5 bytes of gradients, in two steps.
    near, far = 4 * (0.001 + 0.01), 4 * (0.01 + 0.1)
    assert floors.reduced_s[:, 0] == pytest.approx([near, far])
    assert floors.closing_s[:, 0] == pytest.approx([2 * 2.5 * 0.1, 2 * 2.5 * 0.01])


def test_no_rings_without_links(cluster_of: Make, model: Model) -> None:
    """Three devices have no ring of four."""
    assert not floors_of(model, cluster_of((0, 0, 1)), Family(tensor=2, data=2, microbatch=1, microbatches=1)).possible


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b", "zero-bubble"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_bounds_are_below_even_plans(model: Model, cluster: Cluster, schedule: str, count: int) -> None:
    """Their seconds and their bytes, whatever memory there is."""
    family = Family(tensor=1, data=1, microbatch=1, microbatches=4)
    floors, choice = floors_of(model, cluster, family), Choice(family=family, pipeline=count, schedule=schedule)
    evaluator, plan = (
        make_evaluator(model.given, cluster, choice),
        Plan(cuts=uniform_cuts(model.given, count), grid=rank_order(choice.shape)),
    )
    assert max(floors.work_s(count), floors.cuts_s(schedule, count)[-1]) <= evaluator.seconds(plan)
    assert floors.need_bytes(schedule, 1, count) <= evaluator.memory_bytes(plan).max()
    assert floors.cut_bytes(schedule, count)[-1] <= evaluator.memory_bytes(plan).max()


@pytest.mark.parametrize(
    ("schedule", "count"), [("zb-v", 1), ("zb-v", 2), ("dualpipe-v", 1), ("dualpipe-v", 2), ("chimera", 2)]
)
def test_bounds_are_below_all_plans_of_other_shapes(
    model: Model, cluster: Cluster, schedule: Schedule, count: int
) -> None:
    """Their seconds and their bytes, of all cuts into stages that come back, or run both ways."""
    family, rng = Family(tensor=1, data=1, microbatch=1, microbatches=6), np.random.default_rng(count)
    virtual, style = stages_each(schedule) or 1, style_of(schedule)
    layers = replace(model.given, held_bytes=40 * rng.random(4), state_bytes=40 * rng.random(4))
    floors = floors_of(Model(layers), cluster, family)
    choice = Choice(family=family, pipeline=count, schedule=schedule, virtual=virtual)
    evaluator = make_evaluator(layers, cluster, choice)
    for inner in combinations(range(1, 4), virtual * count - 1):
        plan = Plan(cuts=(0, *inner, 4), grid=rank_order(choice.shape), style=style)
        assert floors.work_s(count, pipelines_of(schedule)) <= evaluator.seconds(plan)
        assert floors.need_bytes(schedule, virtual, count) <= evaluator.memory_bytes(plan).max() * (1 + 1e-12)


def test_the_best_cuts_need_what_they_hold(model: Model, cluster: Cluster) -> None:
    """Two layers of 40 bytes each, and 16 for each microbatch in flight: two of them at the first of two positions.

    One microbatch more is held there than behind, so that three layers behind would need more than two.
    """
    floors = floors_of(model, cluster, Family(tensor=1, data=1, microbatch=1, microbatches=4))
    assert floors.cut_bytes("1f1b", 2) == pytest.approx([4 * 48, 2 * 40 + 2 * 16])


@pytest.mark.parametrize("most_bytes", [88.0, 112.0, 150.0, 192.0, 200.0, 400.0])
def test_cuts_that_fit_are_known_without_the_best_of_them(model: Model, cluster: Cluster, most_bytes: float) -> None:
    """Where every layer fits alone, the answer is that of the bound itself; else nothing is claimed."""
    floors = floors_of(model, cluster, Family(tensor=1, data=1, microbatch=1, microbatches=4))
    fits, bound = floors.fits_cuts("1f1b", 4, most_bytes), floors.cut_bytes("1f1b", 4)
    assert (fits <= (bound <= most_bytes)).all()
    assert most_bytes < 104 or fits.tolist() == (bound <= most_bytes).tolist()


def test_interleaved_stages_hold_a_microbatch_of_each_position(model: Model, cluster: Cluster) -> None:
    """Of two positions the last holds one of all its layers, the first two: 48 and 56 bytes a layer."""
    floors = floors_of(model, cluster, Family(tensor=1, data=1, microbatch=1, microbatches=4))
    assert floors.need_bytes("interleaved", 2, 2) == pytest.approx(4 / (1 / 48 + 1 / 56))


def test_tied_layers_are_held_and_reduced_once(cluster: Cluster, model: Model) -> None:
    """A stage with both ends has one matrix, and no plan needs two of it in all."""
    from dataclasses import replace

    tied = Model(replace(model.given, tied=((0, 3),)))
    family = Family(tensor=1, data=2, microbatch=1, microbatches=1)
    plain, shared = floors_of(model, cluster, family), floors_of(tied, cluster, family)
    assert plain.cut_bytes("1f1b", 1)[0] - shared.cut_bytes("1f1b", 1)[0] == pytest.approx(40)
    assert plain.need_bytes("1f1b", 1, 1) - shared.need_bytes("1f1b", 1, 1) == pytest.approx(40)
    assert (plain.closing_s - shared.closing_s)[0] == pytest.approx([0, 0, 0, plain.closing_s[0, 3]])


def test_long_chains_are_bounded_by_work_alone(cluster: Cluster) -> None:
    """A table of cuts would be too large."""
    from tiger.training.models.layers import Layers

    size = 601
    layers = Layers(
        names=tuple(str(k) for k in range(size)),
        forward_s=np.ones(size),
        backward_s=np.ones(size),
        parameter_bytes=np.ones(size),
        crossing_bytes=np.zeros(size + 1),
    )
    floors = floors_of(Model(layers), cluster, Family(tensor=1, data=1, microbatch=1, microbatches=1))
    assert floors.cuts_s("1f1b", 2).tolist() == [0, 0]
    assert floors.cut_bytes("1f1b", 2).tolist() == [0, 0]
    assert floors.work_s(2) == pytest.approx(601)


@pytest.mark.parametrize("context", [1, 2])
@pytest.mark.parametrize("expert", [1, 2])
@pytest.mark.parametrize("sharding", ["none", "zero-1", "zero-3"])
@pytest.mark.parametrize("recompute", ["none", "full"])
def test_bounds_are_below_plans_of_any_setup(
    cluster_of: Make, context: int, expert: int, sharding: Sharding, recompute: Recompute
) -> None:
    """Whatever is shared out, computed again and sent among ranks with the same layers."""
    shape = Shape(layers=4, hidden=64, heads=4, vocabulary=100, sequence=32, experts=2, gated=True, flops=1e9)
    family = Family(
        tensor=1,
        data=4 // context,
        microbatch=1,
        microbatches=4,
        context=context,
        expert=expert,
        sharding=sharding,
        recompute=recompute,
    )
    layers = layers_of_shape(shape, setup=family.setup(PlanParams()))
    cluster = cluster_of((0, 0, 0, 0, 1, 1, 1, 1))
    floors = FamilyBounds.of(layers, cluster, LinkCurves.of(cluster), family)
    choice = Choice(family=family, pipeline=2, schedule="1f1b")
    evaluator = make_evaluator(layers, cluster, choice)
    plan = Plan(cuts=(0, 3, 6), grid=rank_order(choice.shape))
    seconds, held = evaluator.seconds(plan), evaluator.memory_bytes(plan).max()
    assert max(floors.work_s(2), floors.cuts_s("1f1b", 2)[-1]) <= seconds * (1 + 1e-12)
    assert max(floors.need_bytes("1f1b", 1, 2), floors.cut_bytes("1f1b", 2)[-1]) <= held * (1 + 1e-12)


@pytest.mark.parametrize("hiding", [None, 0.0, 0.3])
def test_bounds_are_below_plans_that_hide_messages(cluster_of: Make, hiding: float | None) -> None:
    """Slow devices hide more than the quickest, by which passes are bounded."""
    shape = Shape(layers=4, hidden=64, heads=4, vocabulary=100, sequence=32, gated=True, flops=1e9)
    family = Family(tensor=2, data=2, microbatch=1, microbatches=4)
    layers = layers_of_shape(shape, setup=family.setup(PlanParams(overlap_tensor=hiding)))
    cluster = replace(cluster_of((0, 0, 0, 0, 1, 1, 1, 1)), speed=np.repeat([1.0, 0.25], 4))
    floors = FamilyBounds.of(layers, cluster, LinkCurves.of(cluster), family)
    choice = Choice(family=family, pipeline=2, schedule="1f1b")
    seconds = make_evaluator(layers, cluster, choice).seconds(Plan(cuts=(0, 3, 6), grid=rank_order(choice.shape)))
    assert max(floors.work_s(2), floors.cuts_s("1f1b", 2)[-1]) <= seconds * (1 + 1e-12)


MEASURED = {
    "machines": [{"count": 2, "devices": 4, "bandwidth": 1e13, "nic": "n"}],
    "nics": {"n": {"table": [[1, 1.0], [1e6, 1.01], [2e6, 3.0]]}},
}
FEW_NICS = {
    "machines": [{"count": 2, "devices": 6, "bandwidth": 1e13, "nic": "n", "nics": 4}],
    "nics": {"n": {"bandwidth": 1e9}},
}
# Machines that the network joins device by device, as is quicker than inside them.
CROSSED = {
    "devices": [{"name": str(k), "machine": str(k // 2)} for k in range(4)],
    "links": [
        {"a": a, "b": b, "bandwidth": rate, "latency": start}
        for a, b, rate, start in [
            ("0", "2", 1e11, 0),
            ("1", "3", 1e11, 0),
            ("0", "1", 1e9, 1e-3),
            ("2", "3", 1e9, 1e-3),
        ]
    ],
}


@pytest.mark.parametrize(
    ("cluster", "tensor", "data"),
    [
        ("mi300x:1", 1, 8), ("mi300x:1", 2, 4), ("dgx-1v:1", 1, 8), ("dgx-1v:2", 4, 4), ("dgx-b200:2", 8, 2),
        ("l40s:2x6", 3, 4), ("l40s:2x7", 3, 4), (MEASURED, 1, 8), (MEASURED, 1, 4), (FEW_NICS, 3, 4), (CROSSED, 4, 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("sharding", ["none", "zero-1", "zero-3"])
def test_bug_bounds_were_above_plans_over_wires_and_shared_nics(
    cluster: str | dict[str, object], tensor: int, data: int, sharding: Sharding
) -> None:
    """Of which the messages take all the time, as devices compute in none."""
    shape = Shape(layers=2, hidden=192, heads=24, vocabulary=2000, sequence=64, flops=1e18)
    for count in (1, 8):
        family = Family(tensor=tensor, data=data, microbatch=1, microbatches=count, sharding=sharding)
        layers, hardware = layers_of_shape(shape, setup=family.setup(PlanParams())), read_cluster(cluster)
        floors = FamilyBounds.of(layers, hardware, LinkCurves.of(hardware), family)
        choice = Choice(family=family, pipeline=1, schedule="1f1b")
        grid = rank_order(choice.shape)
        plan = Plan(cuts=uniform_cuts(layers, 1), grid=grid)
        taken = make_evaluator(layers, hardware, choice).seconds(plan)
        assert max(floors.work_s(1), floors.cuts_s("1f1b", 1)[-1]) <= taken * (1 + 1e-9)
