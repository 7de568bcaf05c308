"""The figures of a report: seconds and bytes of each stage of a plan, and bytes over each link."""

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.placement.chain.hosted_experts import added_seconds
from tiger.placement.emission.deployment import Deployment
from tiger.placement.entry.stage import Link, PlacedStage
from tiger.training.costs.stages import Workload, workloads
from tiger.training.costs.sums import state_bytes
from tiger.training.models.serving import forward_alone
from tiger.training.schedules.traffic import link_traffic


def list_placed_stages(deployment: Deployment) -> tuple[PlacedStage, ...]:
    """Return every stage of a plan, in order, with the figures of its slowest replica."""
    plan, cluster = deployment.plan, deployment.cluster
    loads = [_loads(load) + _hosted_loads(deployment) for load in workloads(deployment.layers, cluster, plan)]
    held = deployment.memory_bytes or _state(deployment)
    stages = []
    for stage in range(plan.stages):
        compute, communication = max((load[:, stage].tolist() for load in loads), key=sum)
        position = int(plan.stage_positions[stage])
        ranks = plan.grid[position]
        room = float(cluster.memory_bytes[ranks].min())
        stages.append(
            PlacedStage(
                device=cluster.names[ranks[0, 0]],
                devices=tuple(tuple(cluster.names[device] for device in row) for row in ranks),
                ops=deployment.layers.names[plan.cuts[stage] : plan.cuts[stage + 1]],
                compute_s=compute,
                communication_s=communication,
                memory_bytes=float(held[position]),
                capacity_bytes=room if np.isfinite(room) else None,
            )
        )
    return tuple(stages)


def links_of(deployment: Deployment, microbatches: int) -> tuple[Link, ...]:
    """Return the bytes that an iteration of so many microbatches sends between devices."""
    names = deployment.cluster.names
    traffic = link_traffic(deployment.layers, deployment.plan, microbatches, deployment.cluster.ring_orders)
    return tuple(Link(a=names[a], b=names[b], sent_bytes=size) for (a, b), size in traffic.items())


def _loads(load: Workload) -> FloatArray:
    """Return the seconds of passes and of messages [2, S] of each stage, for one microbatch.

    Of two pipelines in opposite directions, a position has both its stages, each for half of the microbatches.
    """
    crossing = np.concatenate([[0.0], load.transfer_s, [0.0]])
    spent = np.array([load.forward_s + load.backward_s, 2 * (crossing[:-1] + crossing[1:])])
    return load.by_position(spent.T).mean(axis=0).T if load.style == "mirror" else spent


def _hosted_loads(deployment: Deployment) -> FloatArray:
    """Return the seconds [2, S] that stages wait for experts on a CPU, messages to it included."""
    plan, alone, host = deployment.plan, forward_alone(deployment.layers), deployment.host
    waits = np.zeros((2, plan.stages))
    for layer in deployment.hosted if host is not None else ():
        stage = deployment.stage_of(layer)
        waits[0, stage] += added_seconds(alone, deployment.cluster, int(plan.grid[stage, 0, 0]), host or 0)[layer]
    return waits


def _state(deployment: Deployment) -> list[float]:
    """Return the bytes of parameters and state that a device of each position holds."""
    plan = deployment.plan
    held = plan.sum_by_position(state_bytes(deployment.layers, plan.cuts) / plan.grid.shape[2])
    return [float(size) for size in held]
