"""What each stage of a plan takes."""

from dataclasses import replace

import numpy as np

from tiger.placement.emission.deployment import Deployment
from tiger.placement.entry.account import links_of, list_placed_stages
from tiger.placement.entry.stage import Link, PlacedStage
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


def test_a_stage_has_its_passes_and_its_messages(chain: Layers, pair: Cluster) -> None:
    """Three seconds a layer, and half a second for a message forward and for one back."""
    first, last = list_placed_stages(Deployment(layers=chain, cluster=pair, plan=Plan.line((0, 1, 4), (1, 0))))
    assert first == PlacedStage(
        device="y",
        devices=(("y",),),
        ops=("a",),
        compute_s=3.0,
        communication_s=1.0,
        memory_bytes=10.0,
        capacity_bytes=None,
    )
    assert (last.device, last.ops, last.compute_s, last.memory_bytes) == ("x", ("b", "c", "d"), 9.0, 30.0)
    assert (last.communication_s, last.capacity_bytes) == (1.0, 100.0)


def test_virtual_stages_share_the_memory_of_their_device(chain: Layers, pair: Cluster) -> None:
    """Stage j is at position j mod p, and pays for its messages at both ends."""
    plan = Plan(cuts=(0, 1, 2, 3, 4), grid=np.array([[[0]], [[1]]]))
    stages = list_placed_stages(Deployment(layers=chain, cluster=pair, plan=plan))
    assert [stage.device for stage in stages] == ["x", "y", "x", "y"]
    assert [stage.communication_s for stage in stages] == [1.0, 2.0, 2.0, 1.0]
    assert {stage.memory_bytes for stage in stages} == {20.0}


def test_bug_stages_of_two_directions_had_the_figures_of_one(chain: Layers, pair: Cluster) -> None:
    """Each device runs one and three layers, half of the microbatches each, and holds all four."""
    uneven = replace(pair, speed=np.array([1.0, 0.5]))
    plan = Plan(cuts=(0, 1, 4), grid=np.array([[[0]], [[1]]]), style="mirror")
    stages = list_placed_stages(Deployment(layers=chain, cluster=uneven, plan=plan))
    figures = [
        (stage.device, stage.ops, stage.compute_s, stage.communication_s, stage.memory_bytes) for stage in stages
    ]
    assert figures == [("x", ("a",), 6.0, 1.0, 40.0), ("y", ("b", "c", "d"), 12.0, 1.0, 40.0)]


def test_the_slowest_replica_counts(chain: Layers, pair: Cluster) -> None:
    """With both devices named, and the least memory."""
    uneven = replace(pair, speed=np.array([1.0, 0.5]))
    (stage,) = list_placed_stages(Deployment(layers=chain, cluster=uneven, plan=Plan(cuts=(0, 4), grid=[[[0], [1]]])))
    assert (stage.devices, stage.compute_s, stage.capacity_bytes) == ((("x",), ("y",)), 24.0, 100.0)


def test_a_stated_memory_is_taken_over(chain: Layers, pair: Cluster) -> None:
    """As a schedule has it, with what is in flight."""
    plan = Plan.line((0, 2, 4), (0, 1))
    stages = list_placed_stages(Deployment(layers=chain, cluster=pair, plan=plan, memory_bytes=(70.0, 80.0)))
    assert [stage.memory_bytes for stage in stages] == [70.0, 80.0]


def test_links_are_named(chain: Layers, pair: Cluster) -> None:
    """Three microbatches send 5 bytes there and 5 back."""
    made = Deployment(layers=chain, cluster=pair, plan=Plan.line((0, 2, 4), (1, 0)))
    assert links_of(made, 3) == (Link(a="x", b="y", sent_bytes=30.0),)
