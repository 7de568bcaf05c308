"""Tests of the plan's value type."""

import numpy as np
import pytest

from tiger.training.costs.plan import Plan


def test_a_line_has_a_device_a_position() -> None:
    """Two devices of two virtual stages each hold four stages."""
    plan = Plan.line((0, 1, 2, 3, 4), (5, 7))
    assert (plan.stages, plan.positions, plan.virtual) == (4, 2, 2)
    assert plan.grid.ravel().tolist() == [5, 7]


@pytest.mark.parametrize(
    ("cuts", "devices"),
    [((0, 1, 1), (0, 1)), ((0,), (0,)), ((0, 1, 2, 3), (0, 1)), ((0, 1, 2), (3, 3))],
)
def test_what_is_no_plan_is_refused(cuts: tuple[int, ...], devices: tuple[int, ...]) -> None:
    """Stages are not empty, their number is a multiple of the positions', and no device comes twice."""
    with pytest.raises(ValueError, match="expected"):
        Plan.line(cuts, devices)


def test_a_grid_has_three_axes() -> None:
    """Position, replica and rank are told apart."""
    with pytest.raises(ValueError, match="three axes"):
        Plan(cuts=(0, 1), grid=np.zeros((1, 1)))
