"""Tests of figures and their style."""

from threading import Event, Thread
from xml.etree import ElementTree as ET

import pytest
from matplotlib import rcParams

from tiger.run.drawing.figure import in_style, new_figure, render


def test_bug_two_threads_leave_the_settings_of_matplotlib_as_they_were():
    """Tests one that begins while another draws, and ends after it."""
    own, inside, leave = rcParams["svg.hashsalt"], Event(), Event()

    def draw():
        with in_style():
            inside.set()
            leave.wait(0.2)

    first = Thread(target=draw)
    first.start()
    inside.wait()
    with in_style():
        first.join()
    assert rcParams["svg.hashsalt"] == own


@pytest.mark.filterwarnings("ignore:Glyph")
def test_bug_names_with_control_signs_make_svg_that_can_be_read():
    """Tests signs that XML cannot have, as text and as paths."""
    figure = new_figure(1.0)
    figure.text(0.1, 0.5, "a\x1b[31m\x08b")
    for words in ("path", "none"):
        assert ET.fromstring(render(figure, "svg", words).decode()).tag.endswith("svg")
