"""Tests of the pictures that a report has."""

import sys
from dataclasses import replace

import pytest

import tiger
from tests.plotting.reports import lay_out_circuit, map_stencil, place_stages
from tiger.errors import InputError
from tiger.placement.entry.report import PlacementReport
from tiger.plotting.pictures import _course_of_placement, draw, list_artists
from tiger.run.stage import Stage

MAPPING, CIRCUIT = map_stencil(), lay_out_circuit()
LAYERS = [
    {"name": f"layer{k}", "forward_s": 0.01, "backward_s": 0.02, "parameter_bytes": 1e8, "held_bytes": 1e7,
     "activation_bytes": 1e7}
    for k in range(3)
]  # fmt: skip


def test_every_picture_of_a_circuit_is_drawn():
    """Tests a device with errors."""
    assert {name: len(draw(CIRCUIT, name).axes) for name in list_artists(CIRCUIT)} == {
        "layout": 2,
        "swaps": 2,
        "convergence": 1,
    }


def test_the_first_picture_is_drawn_where_none_is_named():
    """Tests a mapping with three panels and a scale, and names that would be markup or a formula."""
    figure = draw(MAPPING)
    assert len(figure.axes) == 4
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert next(iter(list_artists(CIRCUIT))) == "layout"


def test_hardware_without_links_has_no_picture_of_them():
    """Tests that a picture is refused by the names of those that there are."""
    with pytest.raises(InputError, match="plot: expected one of mapping, matrix, hops, convergence, got 'links'"):
        draw(replace(MAPPING, links=()), "links")


@pytest.mark.parametrize(
    ("report", "reason"),
    [
        (replace(MAPPING, problem=None), "expected a report with its problem at hand, got one of a service alone"),
        (replace(CIRCUIT, device=None), "expected a report with its circuit and device at hand, got one of a service"),
        (place_stages(), "expected a report with its model and cluster at hand, got one of a service alone"),
        (replace(MAPPING, feasible=False), "expected a report of something that is possible"),
        (PlacementReport(feasible=False, solver="auto", seed=0, seconds=0.0), "expected a report of something"),
    ],
)
def test_a_report_that_cannot_be_drawn_says_what_is_missing(report, reason):
    """Tests reports of a service, and of what has no solution."""
    with pytest.raises(InputError, match=f"^plot: {reason}"):
        draw(report)


def test_a_missing_matplotlib_names_the_extra(monkeypatch):
    """Tests the advice."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'tiger-mapper\[plot\]'"):
        draw(MAPPING)


def test_an_objective_is_drawn_in_its_own_values():
    """Tests a solve towards the largest load of a link: stages before it have a cost alone."""
    report = tiger.assign("ring:6", "grid:2x3", objective="max-link-load")
    axes = draw(report, "convergence").axes[0]
    assert axes.get_ylabel() == "max-link-load"
    assert all(value <= report.objective.baseline for line in axes.lines for value in line.get_ydata())


def test_a_sum_of_two_objectives_is_drawn_over_their_bounds():
    """Tests that steps in seconds stay out of a picture of the sum."""
    progress = (Stage(name="exact", cost=0.04, seconds=0.1), Stage(name="latency", cost=2.01, seconds=0.1))
    course = _course_of_placement(replace(place_stages(), objective="both", progress=progress))
    assert (course.values, course.bound[1]) == ([None, 2.01], 2.0)


def test_a_placement_is_drawn_in_parts_or_whole():
    """Tests the names of its pictures, and of those of a plan."""
    placed = tiger.place({"layers": LAYERS}, "dgx:1", schedule="1f1b", microbatches=2)
    names = ["overview", "gantt", "loads", "memory", "traffic", "convergence"]
    assert list(list_artists(placed)) == names
    assert [len(draw(placed, name).axes) for name in names[:4]] == [2, 1, 1, 1]
    planned = tiger.plan({"layers": LAYERS}, "dgx:1", batch=8, tensor=1, data=1, top=1)
    assert list(list_artists(planned)) == ["plans", "convergence", *names[:-1]]
