"""Traffic that mpiP has profiled."""

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_tasks
from tiger.formats.mpip import read_task_graph

PAIRS = Path(__file__).resolve().parents[2] / "examples" / "pairs4.mpiP"
REPORT = PAIRS.read_text()
RULE = "-" * 75
TASKS = "@ MPI Task Assignment      : 0 n0\n@ MPI Task Assignment      : 1 n0\n"


def report(*rows: str, kinds: str = "bytes, milliseconds") -> str:
    """Return a report on two ranks, with rows of pairs from line 6 on."""
    return "\n".join(
        [f"{TASKS}{RULE}", f"@--- Aggregate Point-To-Point Stats ({kinds}) -", RULE, "Src-Rank", *rows, RULE]
    )


def test_pairs_of_ranks():
    """50,000 bytes to the other rank of a pair, 40 to a neighbour."""
    tasks = read_tasks(PAIRS).tasks
    assert (tasks.names, tasks.directed) == (("0", "1", "2", "3"), True)
    assert tasks.traffic.toarray().tolist() == [
        [0, 40, 50000, 0],
        [0, 0, 0, 50000],
        [50000, 0, 0, 40],
        [0, 50000, 0, 0],
    ]


def test_messages_may_be_counted_too():
    """In a column before that of their bytes."""
    tasks = read_task_graph(report(" 0  1  7  1e+04  0.5", kinds="count, bytes, milliseconds"))
    assert tasks.traffic.toarray().tolist() == [[0, 10000], [0, 0]]


def test_reports_without_partners_are_refused():
    """What each rank sends from each line of the program is no task graph; the error says which tools give one."""
    plain = REPORT.replace("Point-To-Point Stats", "Point-To-Point Sent")
    with pytest.raises(InputError, match=r"which rank sends to which; use IPM \(IPM_LOG=full\) or pml_monitoring"):
        read_task_graph(plain)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (report("0 1 8 0.1") * 2, "expected one section Aggregate Point-To-Point Stats, .*, got 2"),
        (
            report("0 1 8"),
            "line 7: expected the source and target ranks of messages, their bytes and time, got '0 1 8'",
        ),
        (report("0 1 -8 0.1"), "line 7: expected the source and target ranks"),
        (report("0 1 8 0.1", "0 1 9 0.1"), "line 8: expected a pair of ranks once, got 0 to 1 on line 7 too"),
        (report("0 1 8 0.1", "1 2 8 0.1"), "line 8: expected ranks below 2, as assigned, got 2"),
        (report("0 1 8 0.1").removesuffix(RULE).rstrip(), "line 7: expected a rule under the last pair of ranks"),
        (TASKS + report("0 1 8 0.1"), "line 3: expected ranks below 1,048,576 once, got 0"),
        (report("0 1 8 0.1").replace(": 1", ": 2"), "expected an MPI Task Assignment of every rank, got 2 of them"),
        (report("0 1 8 0.1").replace(TASKS, ""), "expected an MPI Task Assignment of every rank, got 0 of them"),
    ],
)
def test_faults_are_found_at_their_lines(text, reason):
    """Each says what was expected."""
    with pytest.raises(InputError, match=f"^tasks: {reason}"):
        read_task_graph(text)


@pytest.mark.parametrize(
    "row", [" " * 10**6, "0 " * 10**6, "1" * 10**6, "0" + " " * 10**6 + "1", "0 1 8 " + "1." * 10**6]
)
def test_long_lines_are_refused_at_once_and_briefly(row):
    """No expression tries a line twice."""
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        read_task_graph(report(row))
    assert time.process_time() - start < 1
    assert len(str(caught.value)) < 300


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(text=damaged(REPORT))
def test_damaged_files_are_read_or_refused(text):
    """Nothing but a task graph or bad input comes of one."""
    with suppress(InputError):
        assert read_task_graph(text).size > 0
