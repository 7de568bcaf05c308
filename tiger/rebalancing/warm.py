"""Compile the kernels of following a plan into numba's cache, or load them from there."""

from functools import cache

import numpy as np

from tiger.rebalancing.online.planner import OnlinePlanner
from tiger.rebalancing.rebalancer import Rebalancer
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers

KERNELS = ("measured stages",)


@cache
def load() -> None:
    """Take, once in a process, a step of a plan that is measured, and one of a plan that is rebalanced."""
    layers = Layers(
        names=("a", "b", "c"),
        forward_s=np.ones(3),
        backward_s=np.ones(3),
        parameter_bytes=np.ones(3),
        crossing_bytes=np.array([0.0, 1.0, 1.0, 0.0]),
    )
    cluster = Cluster(
        names=("a", "b"),
        speed=np.ones(2),
        memory_bytes=np.full(2, 40.0),
        curves=(Curve.affine(100.0, 0.0),),
        link=np.zeros((2, 2), np.int64),
    )
    planner = OnlinePlanner(layers, cluster)
    planner.step([1.0] * planner.plan.stages)
    Rebalancer(layers, cluster).step([1.0, 2.0, 3.0])


STAGES = ((KERNELS[0], load),)
