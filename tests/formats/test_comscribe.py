"""Traffic that ComScribe has logged."""

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.comscribe import is_log, read_task_graph
from tiger.formats.files import read_tasks

DGX = Path(__file__).resolve().parents[2] / "examples" / "dgx4.comscribe.csv"
ROW = "n,a1,0,0,1,8,Ring\n"


def test_calls_add_up():
    """Two sums of 2 MB along a ring, one of 256 bytes along a tree, 4,000 bytes from rank 0 and 64 to it."""
    tasks = read_tasks(DGX).tasks
    assert (tasks.names, tasks.directed) == (("0", "1", "2", "3"), True)
    assert tasks.traffic.toarray().tolist() == [
        [0, 3_004_256, 0, 0],
        [256, 0, 3_004_320, 256],
        [0, 256, 0, 3_004_064],
        [3_000_064, 256, 0, 0],
    ]


@pytest.mark.parametrize("text", ["a,0,5,3,2,1\n", "1,2,3,4,5,6\n", "a,b,Ring\n", "1,2,3,4,5,6,7\n", "", ROW[:-6]])
def test_matrices_are_no_logs(text):
    """Rows of ranks that name no algorithm may be those of a matrix."""
    assert not is_log(text)
    assert is_log("\n" + ROW + text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ROW + "n,a1,0,0,1\n", "line 2: expected host, communicator, device, source, target, bytes and Ring or Tree"),
        (ROW + "n,a1,0,0,-1,8,Ring\n", "line 2: expected host, communicator"),
        (ROW + "n,a1,0,0,1,8,CollNet\n", "line 2: expected host, communicator"),
        (ROW + "\n" + ROW.replace("a1", "b2"), "line 3: expected one communicator, a1, got b2 too"),
        (ROW.replace(",1,", ",1048576,"), "line 1: expected ranks below 1,048,576, got 1048576"),
    ],
)
def test_faults_are_found_at_their_lines(text, reason):
    """Each says what was expected."""
    with pytest.raises(InputError, match=f"^tasks: {reason}"):
        read_task_graph(text)


@pytest.mark.parametrize(
    "line", ["," * 10**6, "n" * 10**6, "n,a1,0,0,1," + "8" * 10**6, ROW.strip() + " " * 10**6 + "x"]
)
def test_long_lines_are_refused_at_once_and_briefly(line):
    """No expression tries a line twice."""
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        read_task_graph(line)
    assert time.process_time() - start < 1
    assert len(str(caught.value)) < 300


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(text=damaged(DGX.read_text()))
def test_damaged_files_are_read_or_refused(text):
    """Nothing but a task graph or bad input comes of one."""
    with suppress(InputError):
        assert read_task_graph(text).size > 0
