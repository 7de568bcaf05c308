"""The format of Scotch."""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_tasks
from tiger.formats.scotch import read_task_graph

SQUARE = Path(__file__).resolve().parents[2] / "examples" / "square4.grf"
GTST = shutil.which("scotch_gtst") or shutil.which("gtst")


def test_labels_and_loads_are_read():
    """A square of four vertices; each line is a label, a load, a degree, and pairs of load and neighbour."""
    tasks = read_tasks(SQUARE).tasks
    assert (tasks.names, tasks.directed, tasks.work.tolist()) == (("10", "11", "12", "13"), False, [3, 1, 1, 4])
    assert tasks.traffic.toarray().tolist() == [[0, 5, 0, 7], [0, 0, 2, 0], [0, 0, 0, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("text", "names", "work", "volume"),
    [
        ("0\n2\t2\n0\t000\n1\t1\n1\t0\n", ("0", "1"), [1, 1], 1),
        ("0 2 2 1 0\r\n1 2 1\r\n1\r\n", ("1", "2"), [1, 1], 1),
        ("0 2 2 0 001 5 1 1 6 1 0", ("0", "1"), [5, 6], 1),
        ("0\n2 2\n0 010\n1 8 1\n1 8 0", ("0", "1"), [1, 1], 8),
        ("0\n2 2\n0 100\n7 1 9\n9 1 7", ("7", "9"), [1, 1], 1),
        ("0\n2 4\n0 010\n2 8 1 3 1\n2 8 0 3 0", ("0", "1"), [1, 1], 11),
    ],
)
def test_every_flag_is_understood(text, names, work, volume):
    """Labels, edge loads and vertex loads in this order; names count from the base; parallel edges add up."""
    tasks = read_task_graph(text)
    assert (tasks.names, tasks.work.tolist()) == (names, work)
    assert tasks.traffic.toarray().tolist() == [[0, volume], [0, 0]]


def test_vertices_without_neighbours_are_tasks():
    """Three of them."""
    assert read_task_graph("0\n3 0\n0 000\n0\n0\n0\n").traffic.nnz == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 2", "end of file: expected version, vertices, arcs, base and three digits, got 2 numbers"),
        ("1\n2 2\n0 000\n1 1\n1 0", "line 1: expected version 0 of the format, got 1"),
        ("0\n0 0\n0 000", "line 2: expected at least one vertex"),
        ("0\n2 2\n0 020\n1 1\n1 0", "line 3: expected three digits 0 or 1, got 20"),
        ("0\n2 2\n0 x", "line 3: expected numbers, got 'x'"),
        ("0\n2 2\n0 000\n1 1.5", "line 4: expected whole numbers below 2\\*\\*53, got 1.5"),
        ("0\n9007199254740991 2\n0 000\n1 1\n", "end of file: expected 9007199254740991 vertices, got 1"),
        (
            "0\n2 9007199254740991\n0 000\n1 1\n1 0\n",
            "line 2: expected the sum of all degrees, 2, got 9007199254740991",
        ),
        ("0\n2 2\n0 000\n9007199254740991 1", "line 4: expected 9007199254740991 neighbours, got the end"),
        ("0\n2 2\n0 000\n1 1\n1 0\n4", "line 6: expected 2 vertices, got more numbers"),
        ("0\n2 2\n0 100\n5 1 5\n5 1 5", "line 5: expected different labels, got 5 again"),
        ("0\n2 2\n0 000\n1 0\n1 0", "line 4: expected other vertices of the graph as neighbours of 0, got 0"),
        ("0\n2 2\n0 000\n1 1\n1 2", "line 5: expected other vertices of the graph as neighbours of 1, got 2"),
        ("0\n2 2\n0 010\n1 3 1\n1 4 0", "expected vertices 0 and 1 to list each other with the same weight"),
        ("0\n2 1\n0 000\n1 1\n0", "expected vertices 0 and 1 to list each other as often, got 1 and 0"),
    ],
)
def test_faults_are_found_at_their_lines(text, reason):
    """Each says what was expected."""
    with pytest.raises(InputError, match=f"^tasks: {reason}"):
        read_task_graph(text)


@pytest.mark.skipif(GTST is None, reason="needs Scotch")
def test_scotch_reads_the_same():
    """Its own count of vertices, edges and loads."""
    done = subprocess.run([GTST, str(SQUARE)], capture_output=True, text=True, check=True)
    tasks = read_tasks(SQUARE).tasks
    assert f"Vertex load\tmin=1\tmax=4\tsum={tasks.work.sum():g}" in done.stdout
    # Scotch counts the loads of arcs, two an edge.
    assert f"sum={2 * tasks.traffic.sum():g}" in done.stdout


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(text=damaged(SQUARE.read_text()))
def test_damaged_files_are_read_or_refused(text):
    """Nothing but a task graph or bad input comes of one."""
    with suppress(InputError):
        assert np.isfinite(read_task_graph(text).traffic.sum())
