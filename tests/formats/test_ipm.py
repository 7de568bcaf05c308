"""Traffic that IPM has profiled."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_tasks
from tiger.formats.ipm import read_task_graph

PAIRS = Path(__file__).resolve().parents[2] / "examples" / "pairs4.ipm.xml"
SEND = '<hent call="MPI_Send" bytes="10" orank="1" count="3" >1e-2 1e-2 1e-2</hent>'


def profile(*tasks: str) -> str:
    """Return a profile of tasks, one a line."""
    return "<ipm_job_profile>\n" + "\n".join(tasks) + "\n</ipm_job_profile>"


def task(rank: int, size: int, *calls: str) -> str:
    """Return a task with its calls."""
    return f'<task mpi_rank="{rank}" mpi_size="{size}"><hash>{"".join(calls)}</hash></task>'


def test_sends_are_summed_over_calls():
    """50 messages of 1,000 bytes to the other rank of a pair, 5 of 8 to a neighbour; receives and sums do not count."""
    tasks = read_tasks(PAIRS).tasks
    assert (tasks.names, tasks.directed) == (("0", "1", "2", "3"), True)
    assert tasks.traffic.toarray().tolist() == [
        [0, 40, 50000, 0],
        [0, 0, 0, 50000],
        [50000, 0, 0, 40],
        [0, 50000, 0, 0],
    ]


def test_equal_calls_at_several_places_add_up():
    """Bytes are those of one call; tasks may stand in any order."""
    other = SEND.replace("MPI_Send", "MPI_Sendrecv_replace").replace("10", "4")
    tasks = read_task_graph(profile(task(1, 2), task(0, 2, SEND, SEND, other)))
    assert tasks.traffic.toarray().tolist() == [[0, 72], [0, 0]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<topology/>", "line 1: expected <ipm_job_profile> around all, got 'topology'"),
        (profile(task(0, 1)), "expected the calls of ranks \\(<hent>\\), which IPM writes with IPM_LOG=full, got none"),
        (profile(task(0, 2, SEND)), "expected every rank \\(<task>\\) of mpi_size '2', got 1"),
        (profile(task(0, 2, SEND), task(1, 3)), "expected every rank \\(<task>\\) of mpi_size '2 or 3', got 2"),
        (profile(), "expected every rank \\(<task>\\) of mpi_size 'at least 1', got 0"),
        (profile(task(0, 2, SEND), task(0, 2)), "line 3: expected ranks once, got 0 on line 2 too"),
        (profile(task(2, 2, SEND)), "line 2: expected mpi_rank as a whole number up to 1, got '2'"),
        (profile(task(0, 2**40)), "line 2: expected mpi_size as a whole number up to 1048576, got '1099511627776'"),
        (profile("<task/>"), "line 2: expected mpi_size as a whole number up to 1048576, got ''"),
        (profile(task(0, 1, SEND)), "line 2: expected orank as a whole number up to 0, got '1'"),
        (profile(task(0, 2, SEND.replace("10", "-1")), task(1, 2)), "line 2: expected bytes as a whole number"),
        (profile(task(0, 2, SEND.replace("3", "many")), task(1, 2)), "line 2: expected count as a whole number"),
        (profile(SEND, task(0, 2), task(1, 2)), "line 2: expected calls inside of a <task>, got one outside"),
        (profile('<taskcopy mpi_rank="1"/>'), "line 2: expected all ranks with their own calls, got a copy"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><a/>', "line 1: expected XML without declarations of entities, got one"),
    ],
)
def test_faults_are_found_at_their_lines(text, reason):
    """Each says what was expected."""
    with pytest.raises(InputError, match=f"^tasks: {reason}"):
        read_task_graph(text)


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(text=damaged(PAIRS.read_text()))
def test_damaged_files_are_read_or_refused(text):
    """Nothing but a task graph or bad input comes of one."""
    with suppress(InputError):
        assert read_task_graph(text).size > 0
