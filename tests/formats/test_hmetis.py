"""Tests of the reader of hMETIS hypergraphs."""

import pytest

from tiger.errors import InputError
from tiger.formats.hmetis import read_task_graph


def sets_of(text: str) -> list[list[int]]:
    """Return the hyperedges of a file as lists of task numbers from 0."""
    hyperedges = read_task_graph(text).hyperedges
    assert hyperedges is not None
    bounds = zip(hyperedges.starts[:-1], hyperedges.starts[1:], strict=True)
    return [hyperedges.pins[begin:end].tolist() for begin, end in bounds]


@pytest.mark.parametrize(
    ("form", "volumes", "work"),
    [("", [1, 1], [1, 1, 1]), (" 1", [7, 0.5], [1, 1, 1]), (" 10", [1, 1], [4, 5, 6]), (" 11", [7, 0.5], [4, 5, 6])],
)
def test_weights_are_volumes_and_work(form: str, volumes: list[float], work: list[float]) -> None:
    """Sets are on lines of their own, comments anywhere."""
    heads = ("7 ", "0.5 ") if form.endswith("1") else ("", "")
    tail = "4\n5\n6\n" if len(form) == 3 else ""
    text = f"% made by hand\n2 3{form}\n{heads[0]}3 1\n% between\n{heads[1]}2 3\n{tail}"
    tasks = read_task_graph(text)
    assert sets_of(text) == [[2, 0], [1, 2]]
    assert tasks.hyperedges is not None
    assert (tasks.names, tasks.work.tolist(), tasks.hyperedges.volumes.tolist()) == (("1", "2", "3"), work, volumes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("% nothing\n", "expected a header line 'hyperedges vertices [fmt]', got none"),
        ("3\n", "line 1: expected a header 'hyperedges vertices [fmt]', got 1 words"),
        ("0 3\n", "line 1: expected at least one hyperedge and one vertex, got 0 and 3"),
        ("1 2000000000\n1 2\n", "line 1: expected at most 1,048,576 vertices, got 2000000000"),
        ("1 3 2\n1 2\n", "line 1: expected fmt as one of 0, 1, 10, 11, got '2'"),
        ("2 3\n1 2\n", "line 1: expected 2 lines after the header, 2 of hyperedges, got 1"),
        (
            "1 2 10\n1 2\n1\n",
            "line 1: expected 3 lines after the header, 1 of hyperedges and 2 of vertex weights, got 2",
        ),
        ("1 3 1\n5\n", "line 2: expected a weight and at least one vertex, got 1 numbers"),
        ("%\n1 3\n1 4\n", "line 3: expected vertices from 1 to 3, got 4"),
        ("1 3\n1 0\n", "line 2: expected vertices from 1 to 3, got 0"),
        ("1 3\n1 2.5\n", "line 2: expected vertices from 1 to 3, got 2.5"),
        ("1 3\n1 x\n", "line 2: expected numbers, got 'x'"),
        ("2 3\n1 2\n3 2 3\n", "line 3: expected different vertices, got 3 twice"),
        ("1 2 10\n1 2\n1\n2 3\n", "line 4: expected one weight of a vertex, got 2 numbers"),
    ],
)
def test_faults_name_the_line(text: str, reason: str) -> None:
    """Nothing is repaired."""
    with pytest.raises(InputError) as caught:
        read_task_graph(text)
    assert (caught.value.field, caught.value.reason) == ("tasks", reason)
