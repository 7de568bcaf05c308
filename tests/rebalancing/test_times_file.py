"""Tests of files of times of layers."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiger
from tiger.errors import InputError
from tiger.rebalancing.times_file import read_times, times_of_csv, times_of_json

from .conftest import layers_of

LAYERS = layers_of(3)


def test_tables_have_a_row_an_interval(tmp_path: Path) -> None:
    """Under a header or without one, in CSV; forward and backward apart, in JSON."""
    (tmp_path / "t.csv").write_text("l0,l1,l2\n1,2,3\n\n4,5,6\n")
    (tmp_path / "t.json").write_text("[[1, 2, 3], [[1, 1, 1], [3, 4, 5]]]")
    assert [row.tolist() for row in read_times(tmp_path / "t.csv", LAYERS)] == [[[1, 2, 3]], [[4, 5, 6]]]
    first, second = read_times(tmp_path / "t.json", LAYERS)
    assert first.tolist() == [[1, 2, 3]]
    assert second.tolist() == [[1, 1, 1], [3, 4, 5]]


def test_bug_names_that_are_numbers_are_a_header() -> None:
    """They were taken for times."""
    numbered = replace(LAYERS, names=("1", "2", "3"))
    assert [row.tolist() for row in times_of_csv("1,2,3\n4,5,6", numbered)] == [[[4, 5, 6]]]


def test_bug_intervals_that_are_no_list_are_described() -> None:
    """A number there was called null."""
    with pytest.raises(InputError, match="times/1: expected 3 numbers, got 7"):
        times_of_json("[[1, 2, 3], 7]", LAYERS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,l1,l2\n1,2,3", "times: expected numbers, or the 3 names of layers in order, got 'a' in line 1"),
        ("1,l1,nan\n1,2,3", "times: expected numbers, or the 3 names of layers in order, got 'nan' in line 1"),
        ("1,2,3\n1,2", "times: expected 3 cells, got 2 in line 2"),
        ("1,2,3\n1,2,x", "times: expected numbers, got 'x' in line 2"),
        ("1,2,-3", "times/0/2: expected a number"),
        ("l0,l1,l2", "times: expected 1 to"),
        ('1,"2', "times: expected CSV"),
    ],
)
def test_bad_tables_name_the_line(text: str, message: str) -> None:
    """And what is there instead."""
    with pytest.raises(InputError, match=message):
        times_of_csv(text, LAYERS)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("{}", "times"),
        ("[]", "times"),
        ("[1]", "times/0"),
        ("[[1,2,true]]", "times/0"),
        ("[[1,2,3],[1,2]]", "times/1"),
        ("[[1,2,[3]]]", "times/0"),
        ("[[[1,1,1],[1,1,null]]]", "times/0"),
    ],
)
def test_bad_documents_name_the_interval(text: str, field: str) -> None:
    """Whatever stands in the place of numbers."""
    with pytest.raises(InputError) as error:
        times_of_json(text, LAYERS)
    assert error.value.field == field


def test_other_files_are_refused(tmp_path: Path) -> None:
    """By their ending."""
    with pytest.raises(InputError, match="expected a file ending in"):
        read_times(tmp_path / "t.txt", LAYERS)


@given(text=st.text(st.sampled_from('0123456789.,[]{}-eE"ln:\n x'), max_size=60))
@pytest.mark.parametrize("reader", [times_of_csv, times_of_json])
def test_any_text_is_read_or_refused(reader: Callable[[str, object], list[np.ndarray]], text: str) -> None:
    """Nothing but InputError comes out, and what is read are finite rows."""
    try:
        rows = reader(text, LAYERS)
    except tiger.InputError:
        return
    assert all(np.isfinite(row).all() and row.shape[1] == 3 for row in rows)
