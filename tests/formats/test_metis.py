"""The METIS format."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats.metis import read_task_graph

HOUSE = "% comment\n5 6 011\n2 2 4 4 1 5 3\n2 1 4 3 1 5 3\n1 2 1 4 2\n% in between\n1 1 1 3 2\n3 1 3 2 3\n"


def test_vertex_and_edge_weights_are_read():
    """The first number of a line is the work, then neighbour and traffic in turn; an edge counts once."""
    tasks = read_task_graph(HOUSE)
    assert (tasks.names, tasks.directed) == (("1", "2", "3", "4", "5"), False)
    assert tasks.work.tolist() == [2, 2, 1, 1, 3]
    assert tasks.traffic.toarray()[0].tolist() == [0, 4, 0, 1, 3]
    assert (tasks.traffic.nnz, tasks.traffic.sum()) == (6, 14)


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("2 1\n2\n1", [1, 1]),
        ("2 1 0\n2\n1\n\n\n", [1, 1]),
        ("2 1 000\n2\n1\n", [1, 1]),
        ("2 1 10\r\n5 2\r\n6 1\r\n", [5, 6]),
        ("2 1 10 2\n5 9 2\n6 9 1\n", [5, 6]),
        ("2 1 110\n7 5 2\n7 6 1\n", [5, 6]),
        ("2 1 111 2\n7 5 9 2 1\n7 6 9 1 1\n", [5, 6]),
        ("\n%\n2 1 1\n2 1\n1 1\n", [1, 1]),
    ],
)
def test_every_fmt_is_understood(text, work):
    """Sizes are skipped, the first of several weights is the work, blank lines may end the file."""
    tasks = read_task_graph(text)
    assert tasks.work.tolist() == work
    assert tasks.traffic.toarray().tolist() == [[0, 1], [0, 0]]


def test_bug_further_weights_were_passed_over_in_silence():
    """A remark says that the first is the work."""
    (remark,) = read_task_graph("2 1 10 3\n5 9 1 2\n6 9 1 1\n").remarks
    assert remark == "vertices have 3 weights each, of which the first counts, as work"
    assert read_task_graph(HOUSE).remarks == ()


def test_a_blank_line_is_a_vertex_without_neighbours():
    """Vertex 2 of 3 is alone."""
    assert read_task_graph("3 1\n3\n\n1\n").traffic.toarray().tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("%\n", "expected a header line"),
        ("3\n", "line 1: expected a header"),
        ("1 0 0 0 0\n\n", "line 1: expected a header"),
        ("a b\n", "line 1: expected numbers, got 'a'"),
        ("-1 0\n", "line 1: expected finite numbers >= 0"),
        ("1.5 0\n", "line 1: expected whole numbers"),
        ("0 0\n", "line 1: expected at least one vertex"),
        ("99999999999 0\n1\n", "expected 99999999999 vertex lines after the header, got 1"),
        ("9" * 400 + " 0\n", "line 1: expected finite numbers"),
        ("2 1 2\n2\n1\n", "line 1: expected fmt as up to three digits 0 or 1, got '2'"),
        ("2 1 0001\n2 1\n1 1\n", "line 1: expected fmt"),
        ("2 1 0 1\n2\n1\n", "line 1: expected ncon >= 1 just where"),
        ("2 1 10 0\n1 2\n1 1\n", "line 1: expected ncon >= 1 just where"),
        ("2 1\n2\n", "expected 2 vertex lines after the header, got 1"),
        ("2 1\n2\n1\n1\n", "expected 2 vertex lines after the header, got 3"),
        ("2 1 11\n1 2 1\n\n", "line 3: expected 1 numbers before the neighbours, got 0"),
        ("2 1 1\n2 1\n1\n", "line 3: expected pairs of neighbour and weight, got 1"),
        ("2 1\n%\n3\n1\n", "line 3: expected other vertices from 1 to 2 as neighbours of 1, got 3"),
        ("2 1\n0\n1\n", "line 2: expected other vertices"),
        ("2 1\n1.5\n1\n", "line 2: expected other vertices"),
        ("2 1\n1\n2\n", "line 2: expected other vertices from 1 to 2 as neighbours of 1, got 1"),
        ("2 1\n2\nx\n", "line 3: expected numbers, got 'x'"),
        ("2 1 1\n2 -1\n1 -1\n", "line 2: expected finite numbers >= 0, got '-1'"),
        ("2 2\n2\n1\n", "expected 2 edges, each on two lines, got 2 neighbours"),
        ("3 1\n2\n3\n\n", "expected vertices 1 and 2 to list each other as often, got 1 and 0"),
        ("2 1 1\n2 3\n1 4\n", "expected vertices 1 and 2 to list each other with the same weight, got 3 and 4"),
    ],
)
def test_malformed_files_are_refused(text, reason):
    """Every fault is reported for the tasks, most with their line."""
    with pytest.raises(InputError) as caught:
        read_task_graph(text)
    assert caught.value.field == "tasks"
    assert reason in caught.value.reason


def write(work, traffic):
    """Return the METIS text of whole vertex weights and a symmetric matrix without diagonal."""
    lines = [f"{len(work)} {np.count_nonzero(np.triu(traffic))} 011"]
    for vertex, weight in enumerate(work):
        ends = np.flatnonzero(traffic[vertex])
        lines.append(" ".join(map(str, [weight, *(x for end in ends for x in (end + 1, traffic[vertex, end]))])))
    return "\n".join(lines)


@given(size=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_graphs_round_trip(size, seed):
    """What is written is read."""
    rng = np.random.default_rng(seed)
    half = np.triu(rng.integers(0, 4, (size, size)), 1)
    work = rng.integers(0, 9, size)
    tasks = read_task_graph(write(work, half + half.T))
    assert (tasks.traffic != sp.csr_array(half)).nnz == 0
    assert tasks.work.tolist() == work.tolist()
