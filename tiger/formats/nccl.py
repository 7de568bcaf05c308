"""Traffic that NCCL and RCCL log, with the bytes of rings for collectives (`.log`)."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from tiger.errors import InputError
from tiger.formats.communicators import FIELD, Communicators
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

MARK = " NCCL INFO "
# Bytes of ncclDataType_t: (u)int8, (u)int32, (u)int64, float16, 32 and 64, bfloat16, and two float8.
TYPE_BYTES = (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)
_CALL = re.compile(
    r"([A-Za-z]{1,40}): opCount [0-9a-f]+ sendbuff \S+ recvbuff \S+ (?:acc \S+ )?count ([0-9]{1,15}) "
    r"datatype ([0-9]|1[01]) op [0-9]+ root ([0-9]{1,7}) comm (0x[0-9a-f]{1,16}) \[nranks=([0-9]{1,7})\].*"
)
_ORIGIN = re.compile(r"[^\s:]{1,255}:[0-9]{1,10}:[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Log:
    """Hold the communicators found so far, and by process and address their number, rank and number of ranks."""

    found: Communicators = field(default_factory=Communicators)
    opened: dict[tuple[str, str], tuple[int, int, int]] = field(default_factory=dict)


def read_task_graph(text: str) -> TaskGraph:
    r"""Return the bytes that ranks "0", "1", .. send each other, from the concatenated logs of all processes.

    NCCL logs the calls (`NCCL_DEBUG_SUBSYS=INIT,COLL`), not the messages. With \(s\) bytes a call on \(n\) ranks, rings
    in the order of ranks send \(2 s (n - 1) / n\) from each rank to the next for an AllReduce, \(s (n - 1)\) for an
    AllGather or a ReduceScatter, where \(s\) are the bytes of one rank, and \(s\) for a Broadcast or a Reduce, except
    to the root or from it. Send goes to its peer. Ranks are those of the first communicator of all devices. Lines
    of others than NCCL do not count. Raises InputError of `tasks` with the line for damaged lines, for other
    calls, for communicators that were not seen before, and where the log of a rank is missing.

    Source: NCCL, src/init.cc and src/enqueue.cc, https://github.com/NVIDIA/nccl; bytes of rings as in nccl-tests,
    doc/PERFORMANCE.md, https://github.com/NVIDIA/nccl-tests.
    """
    log, calls = Log(), 0
    for number, line in enumerate(text.split("\n"), 1):
        before, _, message = line.rstrip().partition(MARK)
        called, opened = " opCount " in message, "- Init " in message and " comm " in message
        if not (called or opened):
            continue
        process = _read_process(before, message, number)
        if called:
            _add_call(log, process, message, number)
            calls += 1
        else:
            _open(log, process, message, number)
    if not calls:
        what = "expected calls with opCount, which NCCL logs with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,COLL"
        raise InputError(FIELD, f"{what}, got none")
    return log.found.make_graph()


def _read_process(before: str, message: str, line: int) -> str:
    """Return the host and the process of one message."""
    if MARK in message:
        what = "expected one message, got several, as processes write to one file; use NCCL_DEBUG_FILE"
        raise InputError(FIELD, f"line {line}: {what}")
    origin = " ".join(before.split()[-2:]).partition(" ")[0]
    if not _ORIGIN.fullmatch(origin):
        what = "expected host:process:thread [device] before NCCL INFO"
        raise InputError(FIELD, f"line {line}: {what}, got {describe(before)}")
    return origin.rpartition(":")[0]


def _open(log: Log, process: str, message: str, line: int) -> None:
    """Note the communicator that a process initialises: all ranks share its id, or what it was split from and how."""
    words = message.replace("- Init ", " ").split()
    values = dict(pairwise(words))
    address, device = values.get("comm", ""), values.get("cudaDev", "")
    rank, size = (_read_rank(values.get(name, ""), name, line) for name in ("rank", "nranks"))
    name: tuple[str, ...]
    if "parent" in values:
        parent = log.opened.get((process, values["parent"]))
        if parent is None:
            what = "expected a communicator that was initialised before as parent"
            raise InputError(FIELD, f"line {line}: {what}, got {describe(values['parent'])}")
        name = str(parent[0]), values.get("splitCount", ""), values.get("color", "")
    elif "commId" in values:
        name = (values["commId"],)
    else:
        what = "expected commId, which all ranks share and early versions of NCCL do not log"
        raise InputError(FIELD, f"line {line}: {what}, got none")
    number = log.found.join(name, size, rank, f"{process} device {device}", line)
    log.opened[process, address] = number, rank, size


def _read_rank(digits: str, name: str, line: int) -> int:
    """Return a rank or a number of ranks up to the limit."""
    if not re.fullmatch("[0-9]{1,7}", digits) or int(digits) > NODE_LIMIT:
        what = f"expected {name} as a whole number up to {NODE_LIMIT:,}"
        raise InputError(FIELD, f"line {line}: {what}, got {describe(digits)}")
    return int(digits)


def _add_call(log: Log, process: str, message: str, line: int) -> None:
    """Add what the rank of one call sends."""
    match = _CALL.fullmatch(message)
    if match is None:
        what = "expected a call with its count, datatype, root, comm and nranks"
        raise InputError(FIELD, f"line {line}: {what}, got {describe(message)}")
    place = log.opened.get((process, match[5]))
    if place is None:
        what = f"expected comm {match[5]} initialised before, as NCCL_DEBUG_SUBSYS=INIT,COLL logs it"
        raise InputError(FIELD, f"line {line}: {what}, got a call on it")
    number, rank, ranks = place
    root = int(match[4])
    if int(match[6]) != ranks or root >= ranks:
        what = f"expected a root below the {ranks} ranks of comm {match[5]}"
        raise InputError(FIELD, f"line {line}: {what}, got {root} of nranks={match[6]}")
    target, volume = _route(match[1], rank, ranks, root, line)
    if volume:
        log.found.send(number, rank, target, volume * int(match[2]) * TYPE_BYTES[int(match[3])])


def _route(call: str, rank: int, ranks: int, root: int, line: int) -> tuple[int, float]:
    """Return where a rank sends to in a call, and how often what the call counts."""
    after = (rank + 1) % ranks
    match call:
        case "AllReduce":
            return after, 2 * (ranks - 1) / ranks
        case "AllGather" | "ReduceScatter":
            return after, ranks - 1
        case "Broadcast":
            return after, float(after != root)
        case "Reduce":
            return after, float(rank != root)
        case "Send":
            return root, 1.0
        case "Recv":
            return root, 0.0
    what = "expected AllReduce, AllGather, ReduceScatter, Broadcast, Reduce, Send or Recv"
    raise InputError(FIELD, f"line {line}: {what}, got {describe(call)}")
