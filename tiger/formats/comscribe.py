"""Traffic that ComScribe has logged in NCCL: lines of bytes from rank to rank (`.csv`)."""

import re

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "tasks"
# Host, communicator, device, the two ranks and bytes; calls of Reduce state no algorithm.
_ROW = re.compile(r"[^,]{1,255},([0-9a-f]{1,16}),[0-9]{1,4},([0-9]{1,7}),([0-9]{1,7}),([0-9]{1,15})(,Tree|,Ring)?")


def is_log(text: str) -> bool:
    """Return whether a text begins as ComScribe logs, and not as a matrix."""
    match = _ROW.fullmatch(text.lstrip().partition("\n")[0].rstrip())
    return match is not None and match[5] is not None


def read_task_graph(text: str) -> TaskGraph:
    """Return the bytes that ranks "0", "1", .. send each other, from the concatenated files of all ranks and calls.

    ComScribe logs what every call sends along the ring or the tree that NCCL has chosen. Raises InputError of `tasks`
    with the line for malformed rows, for ranks beyond the limit, and for a second communicator: its ranks may be other
    GPUs, and with several of them a process states that which it has opened last.

    Source: Akhtar et al. 2020, "ComScribe: Identifying Intra-node GPU Communication",
    https://github.com/ParCoreLab/ComScribe, nccl/src/include/log.h.
    """
    sent: dict[tuple[int, int], float] = {}
    first = ""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        match = _ROW.fullmatch(line.strip())
        if match is None:
            what = "expected host, communicator, device, source, target, bytes and Ring or Tree"
            raise InputError(FIELD, f"line {number}: {what}, got {describe(line)}")
        first = first or match[1]
        pair = int(match[2]), int(match[3])
        if match[1] != first:
            raise InputError(FIELD, f"line {number}: expected one communicator, {first}, got {match[1]} too")
        if max(pair) >= NODE_LIMIT:
            raise InputError(FIELD, f"line {number}: expected ranks below {NODE_LIMIT:,}, got {max(pair)}")
        sent[pair] = sent.get(pair, 0.0) + int(match[4])
    ranks = 1 + max(map(max, sent), default=0)
    rows, columns = np.array(list(sent), np.int32).reshape(-1, 2).T
    traffic = sp.csr_array((np.array(list(sent.values())), (rows, columns)), shape=(ranks, ranks))
    return TaskGraph(names=tuple(map(str, range(ranks))), traffic=traffic)
