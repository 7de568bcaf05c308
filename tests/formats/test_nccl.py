"""Traffic that NCCL logs."""

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given

from tests.fuzz.profile import cases
from tests.fuzz.test_files import damaged
from tiger.errors import InputError
from tiger.formats.files import read_tasks
from tiger.formats.nccl import read_task_graph

GROUPS = Path(__file__).resolve().parents[2] / "examples" / "groups4.nccl.log"


def create(rank: int, size: int, comm: str = "0xa", name: str = "commId 0x1") -> str:
    """Return the line of a rank, a process each, that opens a communicator."""
    what = f"ncclCommInitRank comm {comm} rank {rank} nranks {size} cudaDev 0 nvmlDev 0 busId 7000 {name}"
    return f"n{rank}:1:2 [0] NCCL INFO {what} - Init COMPLETE\n"


def issue(rank: int, size: int, call: str, count: int = 10, root: int = 0) -> str:
    """Return the line of a call on floats."""
    what = f"{call}: opCount 0 sendbuff 0x1 recvbuff (nil) count {count} datatype 7 op 0 root {root} comm 0xa"
    return f"n{rank}:1:1 [0] NCCL INFO {what} [nranks={size}] stream 0x1\n"


PAIR = create(0, 2) + create(1, 2)


def test_groups_of_two_nodes():
    """Tensor-parallel in pairs, two sums of 2 MB; data-parallel across; a broadcast to all and a message."""
    assert read_tasks(GROUPS).tasks.traffic.toarray().tolist() == [
        [0, 2_004_096, 40_000, 1_024],
        [2_000_000, 0, 4_096, 40_000],
        [40_000, 0, 0, 2_004_096],
        [0, 40_000, 2_000_000, 0],
    ]


@pytest.mark.parametrize(
    ("call", "root", "volumes"),
    [
        ("AllReduce", 0, [60, 60, 60, 60]),
        ("AllGather", 0, [120, 120, 120, 120]),
        ("ReduceScatter", 0, [120, 120, 120, 120]),
        ("Broadcast", 1, [0, 40, 40, 40]),
        ("Reduce", 1, [40, 0, 40, 40]),
    ],
)
def test_collectives_take_rings(call, root, volumes):
    """Each of four ranks sends to the next; the root of a reduction sends nothing, that of a broadcast gets nothing."""
    text = "".join(create(rank, 4) + issue(rank, 4, call, root=root) for rank in (2, 0, 3, 1))
    traffic = read_task_graph(text).traffic.toarray()
    assert [traffic[rank, (rank + 1) % 4] for rank in range(4)] == volumes
    assert traffic.sum() == sum(volumes)


def test_messages_count_where_they_are_sent():
    """What is received is what another rank has sent."""
    text = create(0, 2) + issue(0, 2, "Send", root=1) + create(1, 2) + issue(1, 2, "Recv")
    assert read_task_graph(text).traffic.toarray().tolist() == [[0, 40], [0, 0]]


def test_lines_of_launchers_and_other_versions():
    """Labels and times may stand before a message; RCCL adds to it; other lines do not count."""
    text = create(0, 1) + issue(0, 1, "AllReduce")
    text = "hello\n0: [2026-01-01 00:00:00] ".join(["", *text.splitlines(keepends=True)])
    text = text.replace("(nil) count", "(nil) acc (nil) count").replace("stream 0x1", "stream 0x1 task 0 globalrank 0")
    assert read_task_graph(text + "n0:1:1 [0] NCCL INFO Launch mode Parallel\n").size == 1


def test_an_address_may_be_used_again():
    """The latest communicator there is meant; this one has its ranks in the other order."""
    swapped = [create(k, 2, name="commId 0x2").replace(f"rank {k}", f"rank {1 - k}") for k in (0, 1)]
    tasks = read_task_graph(PAIR + "".join(swapped) + issue(0, 2, "Reduce"))
    assert tasks.traffic.toarray().tolist() == [[0, 40], [0, 0]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello\n", "expected calls with opCount, which NCCL logs with .*SUBSYS=INIT,COLL, got none"),
        (issue(0, 2, "Send"), "line 1: expected comm 0xa initialised before, as NCCL_DEBUG_SUBSYS=INIT,COLL logs it"),
        (create(1, 2) + issue(1, 2, "Send"), "line 1: expected the logs of all 2 ranks, got none of rank 0"),
        (PAIR + issue(0, 3, "Send"), "line 3: expected a root below the 2 ranks of comm 0xa, got 0 of nranks=3"),
        (PAIR + issue(0, 2, "Send", root=2), "line 3: expected a root below the 2 ranks of comm 0xa, got 2"),
        (PAIR + issue(0, 2, "Gather"), "line 3: expected AllReduce, AllGather, .* or Recv, got 'Gather'"),
        (PAIR + issue(0, 2, "Send")[:90], "line 3: expected a call with its count, datatype, root, comm and nranks"),
        (PAIR + issue(0, 2, "Send").replace("e 7", "e 12"), "line 3: expected a call with its count"),
        (PAIR[:40] + PAIR, "line 1: expected one message, got several, as processes write to one file"),
        (PAIR.replace("n0:1:2 ", ""), "line 1: expected host:process:thread \\[device\\] before NCCL INFO"),
        (create(2, 2), "line 1: expected a rank of the 2 that line 1 states, got 2 of 2"),
        (PAIR + create(1, 3, "0xb"), "line 3: expected a rank of the 2 that line 1 states, got 1 of 3"),
        (PAIR + create(1, 2).replace("n1", "n7"), "line 3: expected rank 1 once, got it of 'n1:1 device 0'"),
        (create(0, 2**21), "line 1: expected nranks as a whole number up to 1,048,576, got '2097152'"),
        (create(0, 2).replace("rank 0", "rank x"), "line 1: expected rank as a whole number up to 1,048,576, got 'x'"),
        (create(0, 2, name=""), "line 1: expected commId, which all ranks share"),
        (create(0, 2, name="parent 0xb"), "line 1: expected a communicator that was initialised before as parent"),
        (create(0, 1) + create(1, 2, name="commId 0x3").replace("rank 1", "rank 0")
         + create(2, 2, name="commId 0x3").replace("rank 2", "rank 1") + issue(0, 1, "Send"),
         "expected a communicator of all 3 devices, whose ranks these are, got 2 of some"),
    ],
)  # fmt: skip
def test_faults_are_found_at_their_lines(text, reason):
    """Each says what was expected."""
    if "opCount" not in text and "calls with" not in reason:
        text += issue(0, 2, "Send", root=1)
    with pytest.raises(InputError, match=f"^tasks: {reason}"):
        read_task_graph(text)


@pytest.mark.parametrize(
    "part", ["comm 0x1 rank 0 nranks 1 cudaDev 0 ", "opCount 0 sendbuff ", " NCCL INFO", "x ", "\t", "a: opCount 0 "]
)
def test_long_lines_are_refused_at_once_and_briefly(part):
    """No expression tries a line twice."""
    start = time.process_time()
    with pytest.raises(InputError) as caught:
        read_task_graph(f"n:1:1 [0] NCCL INFO Send: opCount 0 {part * 10**5} comm - Init START")
    assert time.process_time() - start < 1
    assert len(str(caught.value)) < 300


@pytest.mark.slow
@cases(quick=60, long=2_000)
@given(text=damaged(GROUPS.read_text()))
def test_damaged_files_are_read_or_refused(text):
    """Nothing but a task graph or bad input comes of one."""
    with suppress(InputError):
        assert read_task_graph(text).size > 0
