"""Tests of the picture of what devices send."""

import numpy as np

from tests.pictured import ODD, place_stages
from tiger.placement.drawing import traffic
from tiger.placement.drawing.traffic import draw_traffic
from tiger.placement.entry.stage import Link


def cells(figure):
    """Return the amounts that are drawn, 0 for none."""
    return np.nan_to_num(np.ma.filled(figure.axes[0].images[0].get_array(), 0.0)).tolist()


def test_bytes_stand_on_both_sides_of_the_diagonal():
    """Tests the unit and the sum, and that an infinite amount is none."""
    figure = draw_traffic(place_stages(Link(a="gpu0", b=ODD, sent_bytes=3e6)))
    assert cells(figure) == [[0.0, 3.0], [3.0, 0.0]]
    assert "3 MB in an iteration" in figure.axes[0].get_title()
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["gpu0", ODD]


def test_many_devices_share_cells(monkeypatch):
    """Tests three devices where two cells are drawn: what both ends of are in one cell stands on the diagonal."""
    monkeypatch.setattr(traffic, "DRAWN", 2)
    links = [Link(a="gpu0", b=ODD, sent_bytes=3e6), Link(a=ODD, b="gpu2", sent_bytes=5e6)]
    assert cells(draw_traffic(place_stages(*links))) == [[3.0, 5.0], [5.0, 0.0]]
