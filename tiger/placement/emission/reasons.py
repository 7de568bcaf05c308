"""The reasons for the cuts of a plan, in sentences beside its text."""

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.units import GIGABYTE
from tiger.model.wording import describe
from tiger.placement.emission.deployment import Deployment
from tiger.placement.emission.ranges import ranges
from tiger.training.models.layers import LayerKind
from tiger.training.models.setup import NO_SETUP, PLAIN, TrainingSetup

# Ends of a model that cost at least this part of a decoder layer are named, and devices filled to this share.
NOTABLE, FULL = 0.05, 0.9
# Entries of a list before the rest is counted, so that a comment stays a line or two.
LISTED = 16


def reasons(deployment: Deployment) -> tuple[str, ...]:
    """Return one sentence for each thing that makes stages unequal: ends of the model, devices, memory.

    Before them stands how the model is to be trained, as far as that is not as it is by default.
    """
    return (
        *(_describe_training(deployment.layers.setup) if deployment.layers.served is None else ()),
        *_describe_ends(deployment),
        *_describe_speeds(deployment),
        *_describe_memory(deployment),
    )


def comments(deployment: Deployment) -> list[str]:
    """Return the reasons as lines of comment."""
    return [f"# {reason}" for reason in reasons(deployment)]


def relative_cost(deployment: Deployment, kind: LayerKind) -> float:
    """Return the cost of all layers of a kind, forward and backward, in units of the mean decoder layer.

    0 without any of either.
    """
    layers = deployment.layers.between(deployment.plan.cuts)
    work_s = layers.forward_s + layers.backward_s
    kinds = np.array(deployment.layers.kinds)
    decoders = work_s[kinds == "layer"]
    modules = len({m for m, k in zip(deployment.layers.modules, deployment.layers.kinds, strict=True) if k == "layer"})
    mean = decoders.sum() / modules if modules else 0.0
    return float(work_s[kinds == kind].sum() / mean) if mean else 0.0


def _describe_training(setup: TrainingSetup) -> Iterator[str]:
    """Say what memory and time of the plan hold for."""
    own = [(each.name, getattr(setup, each.name)) for each in fields(setup) if each.name not in PLAIN]
    stated = [f"{name} {value}" for name, value in own if value != getattr(NO_SETUP, name)]
    if stated:
        yield f"memory and time are those of training with {', '.join(stated)}"


def _describe_ends(deployment: Deployment) -> Iterator[str]:
    """Say what embedding and head cost, and how many decoder layers their stages hold."""
    if set(deployment.layers.kinds) == {"layer"} or "layer" not in deployment.layers.kinds:
        return
    counts, stage_speeds = deployment.decoder_counts, _list_speeds(deployment)
    ends: tuple[tuple[LayerKind, int, str], ...] = (("embedding", 0, "first"), ("head", -1, "last"))
    for kind, end, side in ends:
        cost = relative_cost(deployment, kind)
        if cost < NOTABLE:
            continue
        # Stages on devices of another speed hold more or less anyway.
        others = [count for count, speed in zip(counts, stage_speeds, strict=True) if speed == stage_speeds[end]]
        joint = "so" if counts[end] < sum(others) / len(others) else "and"
        what = f"the {kind} costs as much as {cost:.2f} decoder layers"
        yield f"{what}, {joint} the {side} stage holds {counts[end]} of {sum(counts)}"


def _describe_speeds(deployment: Deployment) -> Iterator[str]:
    """Say how many layers stages on slower and on faster devices hold, the fastest first."""
    stage_speeds = np.array(_list_speeds(deployment))
    speeds = sorted(set(stage_speeds.tolist()), reverse=True)
    if len(speeds) == 1:
        return
    sizes = np.diff(deployment.plan.cuts)
    held = [
        f"speed {speed:g}: {_describe_layers(np.flatnonzero(stage_speeds == speed), sizes)}"
        for speed in speeds[:LISTED]
    ]
    more = f"; and {len(speeds) - LISTED} speeds more" if len(speeds) > LISTED else ""
    yield f"of {deployment.layers.size} layers, by the speed of devices: {'; '.join(held)}{more}"


def _describe_layers(stages: IntArray, sizes: IntArray) -> str:
    """Say how many layers some stages hold."""
    listed = ranges(stages.tolist())
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    least, most = int(sizes[stages].min()), int(sizes[stages].max())
    many = f"{least}" if least == most else f"{least} to {most}"
    if len(stages) == 1:
        return f"stage {listed[0]} holds {many}"
    return f"stages {', '.join(listed[:LISTED])}{more} hold {many} each"


def _list_speeds(deployment: Deployment) -> list[float]:
    """Return the speed at which every stage runs: that of the slowest of its devices."""
    plan = deployment.plan
    positions = [float(deployment.cluster.speed[ranks].min()) for ranks in plan.grid]
    return [positions[position] for position in plan.stage_positions.tolist()]


def _describe_memory(deployment: Deployment) -> Iterator[str]:
    """Say which positions are nearly full."""
    plan, cluster = deployment.plan, deployment.cluster
    for position, held in enumerate(deployment.memory_bytes):
        room = float(cluster.memory_bytes[plan.grid[position]].min())
        if np.isfinite(room) and held >= FULL * room:
            name = describe(cluster.names[plan.grid[position, 0, 0]])
            yield f"{name} has {held / GIGABYTE:.2f} of its {room / GIGABYTE:.2f} GB taken, so its stage is no larger"
