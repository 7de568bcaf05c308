"""Tests of what the pictures of a placement show."""

from dataclasses import replace

from tests.pictured import place_stages
from tiger.placement.drawing.pictures import _course_of
from tiger.run.stage import Stage


def test_a_sum_of_two_objectives_is_drawn_over_their_bounds():
    """Tests that steps in seconds stay out of a picture of the sum."""
    progress = (Stage(name="exact", cost=0.04, seconds=0.1), Stage(name="latency", cost=2.01, seconds=0.1))
    course = _course_of(replace(place_stages(), objective="both", progress=progress))
    assert (course.values, course.bound[1]) == ([None, 2.01], 2.0)
