"""Tests of the picture of what stages reach."""

import pytest

from tiger.model.units import TIMES
from tiger.run.drawing.convergence import Course, draw_convergence
from tiger.run.stage import Stage


def course(*values, names="abcdefghij", **beside):
    """Return a course of stages of half a second each."""
    stages = [Stage(name=name, cost=1.0, seconds=0.5) for name, _ in zip(names, values, strict=False)]
    return Course("iteration", stages, values, TIMES, **beside)


def legend(figure):
    """Return the words of the legend."""
    return [text.get_text() for text in figure.axes[0].get_legend().texts]


def test_values_stand_at_the_ends_of_stages():
    """Tests seconds that add up, and a stage before anything was known."""
    axes = draw_convergence(course(None, 4.0, 2.0)).axes[0]
    assert axes.lines[0].get_xydata().tolist() == [[1.0, 4.0], [1.5, 2.0]]


def test_bound_and_baseline_are_lines_with_names():
    """Tests that what is not known or infinite is left out."""
    figure = draw_convergence(course(4.0, before=("block order", 6.0), bound=("lower bound", 1.0)))
    assert legend(figure) == ["a", "block order", "lower bound"]
    assert legend(draw_convergence(course(4.0, before=("block order", float("inf")), bound=("", None)))) == ["a"]


def test_the_axis_is_in_the_unit_of_the_values():
    """Tests milliseconds."""
    axes = draw_convergence(course(0.004)).axes[0]
    assert axes.get_ylabel() == "iteration in ms"
    assert axes.yaxis.get_major_formatter()(0.004) == "4"


@pytest.mark.slow
def test_many_kinds_of_stages_share_the_last_marker():
    """Tests ten kinds: six by name, the rest together."""
    assert legend(draw_convergence(course(*range(10)))) == [*"abcdef", "other stages"]
    assert legend(draw_convergence(course(*range(7)))) == [*"abcdefg"]


def test_no_stages_are_an_empty_picture():
    """Tests a report that no search has been part of."""
    assert len(draw_convergence(course()).axes[0].lines) == 0
