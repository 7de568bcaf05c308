"""Models and clusters that a reader can cost by hand, and an engine that cuts evenly instead of searching."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tiger.model.violation import Violation
from tiger.placement.params import PlaceParams
from tiger.placement.result import PlaceResult
from tiger.run.stage import Stage
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers


@pytest.fixture(scope="session")
def chain() -> Layers:
    """Return four layers of 1 s forward and 2 s back, 10 bytes each, that send 5 bytes on."""
    return Layers(
        names=("a", "b", "c", "d"),
        forward_s=np.ones(4),
        backward_s=np.full(4, 2.0),
        parameter_bytes=np.full(4, 10.0),
        crossing_bytes=np.array([0.0, 5.0, 5.0, 5.0, 0.0]),
        slices=0,
    )


@pytest.fixture(scope="session")
def pair() -> Cluster:
    """Return two devices of 100 and of endless bytes, 10 bytes a second apart."""
    return Cluster(
        names=("x", "y"),
        speed=np.ones(2),
        memory_bytes=np.array([100.0, np.inf]),
        curves=(Curve.affine(10.0, 0.0),),
        link=np.zeros((2, 2), np.int64),
    )


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[PlaceParams]:
    """Have every placement cut evenly, and return what each was asked; more than 30 bytes a device are too many."""
    seen: list[PlaceParams] = []

    def place(
        layers: Layers, cluster: Cluster, params: PlaceParams, stop: Callable[[], bool], watch: Any
    ) -> PlaceResult:
        seen.append(params)
        virtual = params.virtual or 1
        positions = params.pipeline or cluster.size // (params.tensor * params.data)
        grid = np.arange(positions * params.tensor * params.data).reshape(positions, params.data, params.tensor)
        plan = Plan(cuts=tuple(np.linspace(0, layers.size, positions * virtual + 1).astype(int).tolist()), grid=grid)
        load = workloads(layers, cluster, plan)[0]
        if load.state_bytes.max() > 30:
            return PlaceResult(
                plan=None, violations=(Violation(kind="memory", message="10 bytes too many at layer 'd'"),)
            )
        worst = float(load.loads_s.max())
        timed: dict[str, Any] = {"iteration_s": 5 * worst, "iteration_bound_s": 4 * worst}
        timed["microbatches"] = params.microbatches or 4 * positions
        if params.schedule is None:
            timed = {}
        stages = (Stage(name="uniform", cost=worst, seconds=0.0),)
        return PlaceResult(
            plan=plan, bottleneck_s=worst, lower_bound_s=worst, stages=stages, warnings=("even",), **timed
        )

    monkeypatch.setattr("tiger.placement.solve.place_layers", place)
    return seen
