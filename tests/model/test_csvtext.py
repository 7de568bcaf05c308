"""Tests of tables as comma-separated values."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.model.csvtext import CsvTable

TABLE = CsvTable(field="table", columns=("a", "b", "seconds"), required=("seconds",))


def test_rows_have_their_lines_and_cells_that_are_not_empty() -> None:
    """Comments and lines without text do not count, but for the numbers of lines."""
    text = '# said\n\n a, seconds\n"1,5", 2\n,\n# more\n,3\n'
    assert list(TABLE.read(text)) == [(4, {"a": "1,5", "seconds": "2"}), (7, {"seconds": "3"})]
    assert list(TABLE.read("")) == []


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("second,a\n", "table", "line 1: expected columns out of a, b, seconds once each at most, got 'second'; did"),
        ("\na,a,seconds\n", "table", "line 2: expected columns out of a, b, seconds once each at most, got 'a'"),
        ("a,b\n", "table/seconds", "line 1: expected a header with this column, got none"),
        ("a,seconds\n1\n", "table", "line 2: expected 2 cells, got 1"),
        ('a,seconds\n"1,2\n', "table", "line 2: expected comma-separated values, got "),
    ],
)
def test_what_is_no_table_is_refused(text: str, field: str, reason: str) -> None:
    """With the line."""
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        list(TABLE.read(text))
    assert caught.value.field == field


@given(st.text(st.sampled_from('ab,"# \n\r;seconds1')))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Without another error."""
    with suppress(InputError):
        assert all(set(cells) <= set(TABLE.columns) for _, cells in TABLE.read(text))
