"""The reason why there is no plan, as far as that is known."""

from dataclasses import dataclass, replace

import numpy as np

from tiger.model.units import bytes_text
from tiger.model.violation import Violation
from tiger.placement.chain.params import LineParams
from tiger.placement.chain.shortfall import ADVICE, find_shortfall
from tiger.placement.params import PlaceParams
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers

UNDECIDED = "no plan was found that fits, nor a proof that there is none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Closest:
    """Hold the stages of a position, the most positions, and the bytes that the closest plan lacks in all, if known."""

    virtual: int
    positions: int
    lacking_bytes: float | None


def find_violation(
    layers: Layers, cluster: Cluster, params: PlaceParams, line: LineParams, closest: Closest
) -> Violation:
    """Return the limit that cannot be met, proved for one device and stage a position, else "undecided"."""
    if closest.virtual > 1:
        short = ""
        if closest.lacking_bytes:
            short = f"; the closest one lacks {bytes_text(closest.lacking_bytes)}; {ADVICE}"
        return Violation(kind="undecided", message=UNDECIDED + short)
    if params.tensor * params.copies == 1:
        shortfall = find_shortfall(layers, cluster, line)
    else:
        shortfall = find_shortfall(layers, merge_groups(cluster, params, closest.positions), replace(line, pinned={}))
    if shortfall is None:
        return Violation(kind="undecided", message=UNDECIDED)
    # The ranks of a group share its layers.
    return replace(shortfall, missing_bytes=-(-shortfall.missing_bytes // params.tensor)).violation


def merge_groups(cluster: Cluster, params: PlaceParams, positions: int) -> Cluster:
    """Return a cluster of as many devices as groups, as large as groups get, and all linked.

    A relaxation: groups of the largest devices first hold at least as much as any others, so that layers that fit in
    none of them fit nowhere.
    """
    ranks = params.tensor * params.copies
    largest = np.sort(cluster.memory_bytes)[::-1][: positions * ranks].reshape(positions, ranks)
    return Cluster(
        names=tuple(f"group {k}" for k in range(positions)),
        speed=np.ones(positions),
        memory_bytes=largest.min(axis=1) * params.tensor,
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((positions, positions), np.int64),
    )
