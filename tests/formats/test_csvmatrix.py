"""Communication matrices in text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats.csvmatrix import read_task_graph

MATRIX = [[0, 5], [7, 1]]


@pytest.mark.parametrize(
    "text", ["0,5\n7,1\n", "0;5\n7;1", "0\t5\n7\t1\n", " 0  5\n 7 1 \n", "0, 5\r\n7, 1\r\n\r\n", "0,5\n\n7,1"]
)
def test_separators_are_recognised(text):
    """Commas, semicolons, tabs or blanks; blank lines do not count."""
    tasks = read_task_graph(text)
    assert (tasks.traffic.toarray().tolist(), tasks.names, tasks.directed) == (MATRIX, ("0", "1"), True)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n0,5\n7,1\n",
        "a,0,5\nb,7,1\n",
        ",a,b\na,0,5\nb,7,1\n",
        "rank,a,b\na,0,5\nb,7,1\n",
        "a b\na 0 5\nb 7 1\n",
        '"a";"b"\n0;5\n7;1\n',
        "\ta\tb\na\t0\t5\nb\t7\t1\n",
        "a,b\na,0,5\nb,7,1\n",
    ],
)
def test_names_are_recognised(text):
    """In a header, in the first column, or in both, with or without a corner."""
    tasks = read_task_graph(text)
    assert (tasks.names, tasks.traffic.toarray().tolist()) == (("a", "b"), MATRIX)


def test_numbers_can_be_names_where_they_stand_on_both_sides():
    """A header of numbers and a column of the same are names."""
    assert read_task_graph(",10,11\n10,0,5\n11,7,1\n").names == ("10", "11")


@pytest.mark.parametrize("text", ["10,11\n0,5\n7,1\n", "10,0,5\n11,7,1\n"])
def test_a_row_or_column_of_numbers_too_many_is_an_error(text):
    """A matrix that is not square is refused rather than read as one with numbers for names."""
    with pytest.raises(InputError, match="square"):
        read_task_graph(text)


def test_names_may_hold_the_separator_of_other_files():
    """Coordinates in a file separated by tabs, or quoted."""
    assert read_task_graph("0,0\t0,1\n0\t5\n7\t1\n").names == ("0,0", "0,1")
    assert read_task_graph('"0,0","0,1"\n0,5\n7,1\n').names == ("0,0", "0,1")


def test_a_single_task_is_a_matrix():
    """One number, with or without a name."""
    assert read_task_graph("3").traffic.toarray().tolist() == [[3]]
    assert read_task_graph("only\n3").names == ("only",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0,5\n7\n", "expected rows of equal length"),
        ("1,2,3\n4,5,6\n7,8,9\n1,2,3\n4,5,6\n", "expected a square matrix, got 5 rows of 3 cells"),
        ("1,2,3,4\n4,5,6,7\n", "expected a square matrix, got 2 rows of 4 cells"),
        ("a", "expected a square matrix, got 1 rows of 1 cells"),
        ("0,5\n7,x\n", "matrix row 2: expected numbers, got 'x'"),
        ("0,5\n7,\n", "matrix row 2: expected numbers, got ''"),
        ("0,nan\n7,1\n", "expected numbers alone, or the same names in the first row"),
        ("0,5\n7,nan\n", "matrix row 2: expected numbers, got 'nan'"),
        ("0,5\n7,-1\n", "matrix row 2: expected finite numbers >= 0, got '-1'"),
        ("0,5\n7,1e999\n", "matrix row 2: expected finite numbers >= 0"),
        ("0;1\n7;1,5\n", "matrix row 2: expected numbers, got '1,5'"),
        (",a,b\na,0,5\nc,7,1\n", "the same names in the first row and the first column, got 'b' against 'c'"),
        ("a,a\n0,5\n7,1\n", "expected different names, got 'a' twice"),
        ("a,\n0,5\n7,1\n", "expected a name for every task, got none for task 2"),
        (
            "Cnode ID, Thread ID,bytes_sent\n0,0,8\n0,1,8\n1,0,0\n",
            "got a CubeX profile, which says what is sent and not",
        ),
        ('"a,0\n1,2\n', "expected rows of equal length"),
        ("," * 10, "expected rows of equal length"),
    ],
)
def test_malformed_matrices_are_refused(text, reason):
    """Every fault is reported for the tasks."""
    with pytest.raises(InputError) as caught:
        read_task_graph(text)
    assert caught.value.field == "tasks"
    assert reason in caught.value.reason


@given(
    rows=st.integers(2, 5).flatmap(
        lambda n: st.lists(st.lists(st.floats(0, 1e9), min_size=n, max_size=n), min_size=n, max_size=n)
    ),
    separator=st.sampled_from([",", ";", "\t", " ", " ; "]),
    header=st.booleans(),
    column=st.booleans(),
)
def test_matrices_round_trip(rows, separator, header, column):
    """What is written is read, in every frame and with every separator."""
    names = [f"t{k}" for k in range(len(rows))]
    lines = [([name] if column else []) + list(map(repr, row)) for name, row in zip(names, rows, strict=True)]
    top = [["corner", *names] if column else names] if header else []
    tasks = read_task_graph("\n".join(separator.join(line) for line in top + lines))
    assert tasks.traffic.toarray().tolist() == rows
    assert list(tasks.names) == (names if header or column else [str(k) for k in range(len(rows))])
