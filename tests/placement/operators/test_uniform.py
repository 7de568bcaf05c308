"""Tests of the plain split of operators."""

import numpy as np
import pytest

from tiger.placement.operators.terms import Terms
from tiger.placement.operators.uniform import uniform_split
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.operators import Operators


@pytest.mark.parametrize(("kinds", "split"), [("gpu gpu cpu", [0, 1, 0, 1, 0]), ("cpu cpu", [0, 1, 0, 1, 0])])
def test_runs_of_a_line_go_to_accelerators(kinds: str, split: list[int]) -> None:
    """To cpus where there is nothing else; the device before takes one more."""
    model = Operators(names=tuple("abcde"), seconds=np.ones(5), source=np.zeros(0), target=np.zeros(0))
    size = len(kinds.split())
    on = Cluster(
        names=("x", "y", "z")[:size],
        speed=np.ones(size),
        memory_bytes=np.ones(size),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((size, size), np.int64),
        kinds=tuple("cpu" if kind == "cpu" else "accelerator" for kind in kinds.split()),
    )
    assert uniform_split(Terms.from_operators(model, on, {}), np.array([0, 4, 1, 3, 2])).tolist() == split
