"""Tests of the files of pictures."""

import pytest

from tests.pictured import map_stencil
from tiger.errors import InputError
from tiger.plotting.picturefile import check, write

MAPPING = map_stencil()


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("HTML", b"<!DOCTYPE html>")]
)
def test_the_ending_chooses_the_format(tmp_path, ending, start):
    """Tests every kind of file, the same bytes twice."""
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        write(MAPPING, file)
    assert files[0].read_bytes().startswith(start)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("name", ["a.gif", "a", "a.html.zip", "no/such/a.png"])
def test_files_that_cannot_be_written_are_refused_before_the_work(tmp_path, name):
    """Tests unknown endings and a folder that does not exist."""
    with pytest.raises(InputError, match=r"^plot: expected a file that"):
        check(tmp_path / name)
