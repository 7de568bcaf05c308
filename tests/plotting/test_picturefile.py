"""Tests of the files of pictures."""

import pytest
from matplotlib.patches import Rectangle

from tests.cli.reports import REBALANCING
from tiger.errors import InputError
from tiger.plotting.figure import new_figure
from tiger.plotting.picturefile import check, write, write_figure


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_ending_chooses_the_format(tmp_path, ending, start):
    """Tests every kind of file of a small figure, the same bytes twice."""
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        figure = new_figure(1.0)
        figure.text(0.1, 0.5, "words").set_clip_path(Rectangle((0, 0), 1, 1, transform=figure.transFigure))
        write_figure(figure, file)
    assert files[0].read_bytes().startswith(start)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_report_is_its_first_picture_or_a_page(tmp_path):
    """Tests a report with one picture, the page twice with the same bytes."""
    files = [tmp_path / name for name in ("a.svg", "a.HTML", "b.html")]
    for file in files:
        write(REBALANCING, file)
    picture, page, again = (file.read_bytes() for file in files)
    assert picture.startswith(b"<?xml")
    assert page.startswith(b"<!DOCTYPE html>")
    assert page == again


@pytest.mark.parametrize("name", ["a.gif", "a", "a.html.zip", "no/such/a.png"])
def test_files_that_cannot_be_written_are_refused_before_the_work(tmp_path, name):
    """Tests unknown endings and a folder that does not exist."""
    with pytest.raises(InputError, match=r"^plot: expected a file that"):
        check(tmp_path / name)
