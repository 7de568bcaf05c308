"""Tables of the parts of links that other jobs use."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.formats.linkshares import read_link_shares


@pytest.fixture
def read(tmp_path):
    """Return the way from a text to shares."""

    def read_text(text):
        (tmp_path / "busy.csv").write_text(text, encoding="utf-8")
        return read_link_shares(tmp_path / "busy.csv")

    return read_text


def test_rows_name_ends_and_share(read):
    """A header, comments and blank lines say nothing, and quotes hold names with commas together."""
    assert read('a,b,share\n# uplinks\nleaf0, rack0, .5\n\n"0,0","0,1",0\n') == [
        ("leaf0", "rack0", 0.5),
        ("0,0", "0,1", 0.0),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n", "line 1: expected a,b,share, got 2 cells"),
        ("x,y,0.5\n0,0,0,1,0.5\n", "line 2: expected a,b,share, got 5 cells"),
        ("x,y,half\n", "line 1: expected a number for the share, got 'half'"),
        ("x,y,nan\n", "line 1: expected a number for the share, got 'nan'"),
        ('x,"y,0.5\n', "expected comma-separated values"),
        ("\n", "got an empty file"),
    ],
)
def test_what_is_wrong_is_named(read, text, reason):
    """By its line."""
    with pytest.raises(InputError, match=reason) as caught:
        read(text)
    assert caught.value.field == "running"


@pytest.mark.long
@cases(quick=100, long=2_000)
@given(text=st.text("ab01,.\"'#\n\r\t e-", min_size=1, max_size=40))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    """Shares are numbers, or the file is bad input."""
    path = tmp_path_factory.mktemp("busy") / "busy.csv"
    path.write_text(text, encoding="utf-8")
    with suppress(InputError):
        assert all(isinstance(share.share, float) for share in read_link_shares(path))
