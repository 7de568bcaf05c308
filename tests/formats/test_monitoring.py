"""Traffic that Open MPI has monitored."""

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.monitoring import read_task_graph

REAL = (Path(__file__).resolve().parents[2] / "examples" / "ring4.prof").read_text()
WORLD = "D\tMPI_COMM_WORLD\tprocs: 0,1\n"


def write(kind: str, source: int, target: int, size: int) -> str:
    """Return a line."""
    return f"{kind}\t{source}\t{target}\t{size} bytes\t1 msgs sent\n"


def test_a_real_run():
    """100 to 400 bytes to the next rank, and 8 to both partners of an all-reduce by recursive doubling."""
    assert read_task_graph(REAL).traffic.toarray().tolist() == [
        [0, 108, 8, 0],
        [8, 0, 200, 8],
        [8, 0, 0, 308],
        [400, 8, 8, 0],
    ]


def test_kinds_add_up():
    """Of the program, of the library, put, and got by the first rank; collectives consist of those of the library."""
    lines = [
        write("E", 0, 1, 1),
        write("I", 0, 1, 10),
        write("S", 0, 1, 100),
        write("R", 1, 0, 1000),
        write("C", 0, 1, 5),
    ]
    tasks = read_task_graph("# POINT TO POINT\r\n" + "".join(lines))
    assert (tasks.names, tasks.traffic.toarray().tolist()) == (("0", "1"), [[0, 1111], [0, 0]])


def test_a_rank_may_be_silent():
    """It states that its collectives had no bytes, and is a task."""
    silent = "O2A\t1\t0 bytes\t0 msgs sent\n"
    assert read_task_graph(write("E", 0, 0, 3) + WORLD + silent).traffic.toarray().tolist() == [[3, 0], [0, 0]]


def test_bug_a_rank_that_only_receives_is_a_task():
    """Files without communicators name it as a target alone."""
    assert read_task_graph(write("E", 0, 2, 3)).traffic.toarray().tolist() == [[0, 0, 3], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# nothing\n" + WORLD, "expected lines of bytes between ranks, got none"),
        (write("E", 0, 1, 1) + WORLD, "expected the files of all 2 ranks, one after another, got none of rank 1"),
        (write("E", 0, 9, 1) + write("E", 1, 0, 1) + WORLD, "line 1: expected ranks of MPI_COMM_WORLD, got 9"),
        (write("E", 0, 1, 1) * 2, "line 2: expected a pair of ranks once, got E 0 1 on line 1 too"),
        ("E\t0\t1\t-1 bytes\t1 msgs sent", "line 1: expected E, I, S, R or C, two ranks, bytes and msgs sent"),
        ("\nE 0 1 8 bytes 1 msgs sent", "line 2: expected E, I, S, R or C, two ranks"),
        (write("X", 0, 1, 1), "line 1: expected E, I, S, R or C, two ranks"),
        (write("E", 0, 1048576, 1), "line 1: expected ranks below 1,048,576, got 1048576"),
        (WORLD.replace("1", "9999999") + write("E", 0, 1, 1), "line 1: expected ranks below 1,048,576, got 9999999"),
    ],
)
def test_faults_are_found_at_their_lines(text, reason):
    """Each says what was expected."""
    with pytest.raises(InputError, match=f"^tasks: {reason}"):
        read_task_graph(text)


@pytest.mark.long
@pytest.mark.parametrize("line", ["E\t" * 10**6, "x" * 10**7, "D\tMPI_COMM_WORLD\tprocs: " + "1," * 10**6,
                                  "E\t0\t1\t" + "9" * 10**6, "\t" * 10**6])  # fmt: skip
def test_long_lines_are_refused_at_once_and_briefly(line):
    """No expression tries a line twice."""
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        read_task_graph(line)
    assert time.process_time() - start < 1
    assert len(str(caught.value)) < 300


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(text=damaged(REAL))
def test_damaged_files_are_read_or_refused(text):
    """Nothing but a task graph or bad input comes of one."""
    with suppress(InputError):
        assert read_task_graph(text).size > 0
