"""Tests of tables of operators."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.models.operators import Operators
from tiger.training.models.operatortable import (
    OPTIONAL,
    operators_of_csv,
    operators_of_table,
    table_of_operators,
)

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "models" / "two_towers.csv"
TABLE = """name;seconds;cpu_seconds;memory_bytes;output_bytes;output_seconds;colocate;backward;accelerator;inputs
a; 1; ; 5; 7; 0.5; x; false; 1;
b; 2; 9; ; ; ; x; true; True; a
c; 3; ; ; ; ; ; 0; false; "a;b"
"""
ROWS: list[dict[str, Any]] = [
    {"name": "a", "seconds": 1, "memory_bytes": 5, "output_bytes": 7, "output_seconds": 0.5, "colocate": "x"},
    {"name": "b", "seconds": 2, "cpu_seconds": 9, "colocate": "x", "backward": True},
    {"name": "c", "seconds": 3, "accelerator": False},
]
EDGES = [["a", "b"], ["a", "c"], ["b", "c"]]


def are_equal(one: Operators, other: Operators) -> bool:
    """Return whether two graphs of operators are equal."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in Operators.__slots__]
    return all(bool(np.all(ours == theirs)) for ours, theirs in pairs)


def test_csv_and_json_say_the_same() -> None:
    """An empty cell is the default, and inputs are edges."""
    operators = operators_of_csv(TABLE)
    assert are_equal(operators, operators_of_table({"operators": ROWS, "edges": EDGES}))
    assert operators.cpu_s.tolist() == [1.0, 9.0, 3.0]
    assert operators.colour.tolist() == [0, 0, 1]
    assert operators.sent_s.tolist() == [0.5, 0.0, 0.0]


def test_a_table_of_operators_reads_back() -> None:
    """Every field of them."""
    operators = operators_of_csv(EXAMPLE.read_text())
    assert are_equal(operators_of_table(table_of_operators(operators)), operators)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("name;seconds", "name;minutes", "model/columns"),
        (";inputs", "", "model/columns"),
        ("b; 2", "b; two", "model/operators/1/seconds"),
        ("b; 2", "b; nan", "model/operators/1/seconds"),
        ("b; 2", "b; ", "model/operators/1/seconds"),
        ("b; 2", "a; 2", "model/operators/1/name"),
        ("b; 2", "; 2", "model/operators/1/name"),
        ("True; a", "True; d", "model/operators/1/inputs"),
        ("True; a", "True; c", "model/edges"),
        ("True; a", "True; b", "model/edges"),
        ("True; a", "True", "model/operators/1"),
        ("0; false", "0; no", "model/operators/2/accelerator"),
    ],
)
def test_what_is_wrong_in_csv_is_named(old: str, new: str, field: str) -> None:
    """By its row."""
    with pytest.raises(InputError) as caught:
        operators_of_csv(TABLE.replace(old, new, 1))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"operators": ROWS, "edges": EDGES, "tied": []}, "model"),
        ({"operators": [], "edges": []}, "model/operators"),
        ({"operators": {}, "edges": []}, "model/operators"),
        ({"operators": ROWS}, "model/edges"),
        ({"operators": ROWS, "edges": [["a"]]}, "model/edges/0"),
        ({"operators": ROWS, "edges": [["a", 5]]}, "model/edges/0"),
        ({"operators": ROWS, "edges": [["a", []]]}, "model/edges/0"),
        ({"operators": ROWS, "edges": [["a", "b"], ["b", "a"]]}, "model/edges"),
        ({"operators": [{"name": "a"}], "edges": []}, "model/operators/0/seconds"),
        ({"operators": [{"name": "a", "seconds": 1, "speed": 2}], "edges": []}, "model/operators/0"),
    ],
)
def test_what_is_wrong_in_json_is_named(document: dict[str, Any], field: str) -> None:
    """By its key."""
    with pytest.raises(InputError) as caught:
        operators_of_table(document)
    assert caught.value.field == field


@given(
    st.dictionaries(
        st.sampled_from(OPTIONAL), st.none() | st.booleans() | st.floats() | st.text(max_size=2) | st.integers(-1, 2)
    ),
    st.lists(st.lists(st.sampled_from(["a", "b", "d", 5]), max_size=3), max_size=3) | st.integers(),
)
def test_any_table_is_read_or_refused(fields: dict[str, object], edges: object) -> None:
    """By InputError and nothing else."""
    rows = [{"name": "a", "seconds": 1, **fields}, {"name": "b", "seconds": 0}]
    with suppress(InputError):
        assert operators_of_table({"operators": rows, "edges": edges}).size == 2


@given(st.text(st.sampled_from('ab,; \n"1.e-')))
def test_any_text_below_a_header_is_read_or_refused(text: str) -> None:
    """By InputError and nothing else."""
    with suppress(InputError):
        assert operators_of_csv(f"name,seconds,inputs\n{text}").size >= 1
