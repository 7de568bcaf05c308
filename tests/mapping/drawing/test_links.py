"""Tests of the pictures of links, of the communication matrix, and of distances."""

from dataclasses import replace

import numpy as np
import pytest

from tests.pictured import map_stencil
from tiger.mapping.drawing.hops import draw_hops
from tiger.mapping.drawing.links import draw_links
from tiger.mapping.drawing.matrix import draw_matrix
from tiger.mapping.drawing.view import view_mapping

REPORT = map_stencil()
VIEW = view_mapping(REPORT.problem, REPORT.mapping)


def test_loads_of_links_fall_from_the_busiest():
    """Tests the curves of both orders, and the names of the busiest links."""
    curves, busiest = draw_links(VIEW, REPORT.links).axes
    loads = [line.get_ydata() for line in curves.lines]
    assert [load.sum() for load in loads] == [sum(order.link_load) for order in VIEW.orders]
    assert all((np.diff(load) <= 0).all() for load in loads)
    assert busiest.get_yticklabels()[0].get_text() == f"{REPORT.links[0].a} - {REPORT.links[0].b}"


@pytest.mark.slow
def test_bug_loads_between_groups_are_not_called_those_of_links():
    """Tests a view whose vertices stand for several nodes, and one that has not all links."""
    grouped = replace(VIEW, topology=replace(VIEW.topology, total=4096))
    curve = draw_links(grouped, REPORT.links).axes[0]
    assert curve.get_title().startswith("Loads between groups of nodes: at most")
    some = replace(VIEW, topology=replace(VIEW.topology, total_edges=9000))
    assert draw_links(some, REPORT.links).axes[0].get_xlabel() == "18 of 9,000 links, the busiest first"


def test_the_matrix_has_all_traffic():
    """Tests the cells of both orders, blank where there is none."""
    before, after, _ = draw_matrix(VIEW).axes
    for axes in (before, after):
        cells = axes.images[0].get_array()
        assert cells.shape == (9, 9)
        assert cells.sum() == REPORT.problem.tasks.traffic.sum()


def test_bars_have_the_traffic_at_every_distance():
    """Tests that the bars of an order sum up to all traffic, at whole hops."""
    axes = draw_hops(VIEW).axes[0]
    for bars in axes.containers:
        assert sum(bar.get_height() for bar in bars) == REPORT.problem.tasks.traffic.sum()
    first, second = (bars[1] for bars in axes.containers)
    assert (first.get_x() + second.get_x() + second.get_width()) / 2 == 1.0
