"""Why a plan cuts a model where it does, in sentences for whoever pastes it."""

from collections.abc import Iterator

import numpy as np

from tiger.formats.values import shown
from tiger.pipeline.emission.deployment import Deployment
from tiger.pipeline.layers import LayerKind

NOTABLE, FULL = 0.05, 0.9
LISTED = 16
GIGABYTE = 1e9


def reasons(deployment: Deployment) -> tuple[str, ...]:
    """Return one sentence for each thing that makes stages unequal: ends of the model, devices, memory."""
    return (*_ends(deployment), *_speeds(deployment), *_memory(deployment))


def comments(deployment: Deployment) -> list[str]:
    """Return the reasons as lines of comment."""
    return [f"# {reason}" for reason in reasons(deployment)]


def relative_cost(deployment: Deployment, kind: LayerKind) -> float:
    """Return what all layers of a kind cost, forward and backward, in units of the mean decoder layer.

    0 without any of either.
    """
    spent = deployment.layers.forward_s + deployment.layers.backward_s
    kinds = np.array(deployment.layers.kinds)
    decoders = spent[kinds == "layer"]
    modules = len({m for m, k in zip(deployment.layers.modules, deployment.layers.kinds, strict=True) if k == "layer"})
    mean = decoders.sum() / modules if modules else 0.0
    return float(spent[kinds == kind].sum() / mean) if mean else 0.0


def _ends(deployment: Deployment) -> Iterator[str]:
    """Say what embedding and head cost, and how many decoder layers their stages hold."""
    if set(deployment.layers.kinds) == {"layer"} or "layer" not in deployment.layers.kinds:
        return
    counts = deployment.decoder_counts
    ends: tuple[tuple[LayerKind, int, str], ...] = (("embedding", 0, "first"), ("head", -1, "last"))
    for kind, end, side in ends:
        cost = relative_cost(deployment, kind)
        if cost < NOTABLE:
            continue
        joint = "so" if counts[end] < max(counts) else "and"
        what = f"the {kind} costs as much as {cost:.2f} decoder layers"
        yield f"{what}, {joint} the {side} stage holds {counts[end]} of {sum(counts)}"


def _speeds(deployment: Deployment) -> Iterator[str]:
    """Say which stages run on slower and on faster devices."""
    plan, cluster = deployment.plan, deployment.cluster
    paces = [float(cluster.speed[ranks].min()) for ranks in plan.grid]
    if len(set(paces)) == 1:
        return
    sizes = np.diff(plan.cuts)
    held = [
        f"stage {stage} on {shown(cluster.names[plan.grid[stage % plan.positions, 0, 0]])} "
        f"of speed {paces[stage % plan.positions]:g} holds {sizes[stage]}"
        for stage in range(plan.stages)
    ]
    more = f", and {len(held) - LISTED} more" if len(held) > LISTED else ""
    yield f"devices differ in speed: {', '.join(held[:LISTED])}{more} of {deployment.layers.size} layers"


def _memory(deployment: Deployment) -> Iterator[str]:
    """Say which positions are nearly full."""
    plan, cluster = deployment.plan, deployment.cluster
    for position, held in enumerate(deployment.memory_bytes):
        room = float(cluster.memory_bytes[plan.grid[position]].min())
        if np.isfinite(room) and held >= FULL * room:
            name = shown(cluster.names[plan.grid[position, 0, 0]])
            yield f"{name} has {held / GIGABYTE:.2f} of its {room / GIGABYTE:.2f} GB taken, so its stage is no larger"
