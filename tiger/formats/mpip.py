"""Traffic that mpiP has profiled, where the report holds who sent to whom (`.mpiP`)."""

import re
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "tasks"
HEADING = "@--- Aggregate Point-To-Point Stats"
# Source, target, perhaps the number of messages, bytes as C prints them, milliseconds.
_PAIR = re.compile(
    r" *([0-9]{1,7}) +([0-9]{1,7})(?: +[0-9]{1,18})? +"
    r"([0-9]{1,18}(?:\.[0-9]{1,6})?(?:e\+?[0-9]{1,2})?) +[0-9.e+-]{1,20}"
)
_TASK = re.compile(r"@ MPI Task Assignment {0,30}: ([0-9]{1,7}) \S+")


def read_task_graph(text: str) -> TaskGraph:
    """Return the bytes that ranks "0", "1", .. send each other from point to point.

    mpiP itself states what every rank sends from each line of the program, and no partners; extended versions add
    `Aggregate Point-To-Point Stats` with the sum for every pair. Raises InputError of `tasks` for reports
    without these, which say nothing of a task graph, and with the line for malformed or repeated pairs, for ranks that
    are not among the task assignments, and for assignments that leave a rank out.

    Source: mpiP 3.5, user guide, https://github.com/LLNL/mpiP; for the pairs the converter of mpiP reports in
    https://github.com/minimalmetrics/mmperftools.
    """
    lines = text.split("\n")
    starts = [k for k, line in enumerate(lines) if line.startswith(HEADING)]
    if len(starts) != 1:
        what = f"expected one section {HEADING[5:]}, as mpiP has none that says which rank sends to which"
        other = "use IPM (IPM_LOG=full) or pml_monitoring of Open MPI"
        raise InputError(FIELD, f"{what}; {other}, got {len(starts)}")
    ranks, volumes = _count_ranks(lines), _read_pairs(lines, starts[0] + 3)
    highest = max(volumes, key=max, default=(0, 0))
    if max(highest) >= ranks:
        what = f"expected ranks below {ranks}, as assigned"
        raise InputError(FIELD, f"line {volumes[highest][0]}: {what}, got {max(highest)}")
    sizes = np.array([size for _, size in volumes.values()], np.float64)
    rows, columns = np.array(list(volumes), np.int32).reshape(-1, 2).T
    traffic = sp.csr_array((sizes, (rows, columns)), shape=(ranks, ranks))
    return TaskGraph(names=tuple(map(str, range(ranks))), traffic=traffic)


def _read_pairs(lines: Sequence[str], start: int) -> dict[tuple[int, int], tuple[int, float]]:
    """Return the line and the bytes of every pair of ranks, down to the next rule."""
    pairs: dict[tuple[int, int], tuple[int, float]] = {}
    for number, line in enumerate(lines[start:], start + 1):
        if line.startswith("---"):
            return pairs
        match = _PAIR.fullmatch(line.rstrip())
        if match is None:
            what = "expected the source and target ranks of messages, their bytes and time"
            raise InputError(FIELD, f"line {number}: {what}, got {describe(line)}")
        pair = int(match[1]), int(match[2])
        if pair in pairs:
            what = f"expected a pair of ranks once, got {pair[0]} to {pair[1]} on line {pairs[pair][0]} too"
            raise InputError(FIELD, f"line {number}: {what}")
        pairs[pair] = number, float(match[3])
    raise InputError(FIELD, f"line {len(lines)}: expected a rule under the last pair of ranks, got the end")


def _count_ranks(lines: Sequence[str]) -> int:
    """Return how many ranks are assigned to hosts; each must be once."""
    found = dict[int, int]()
    for number, line in enumerate(lines, 1):
        if match := _TASK.fullmatch(line.rstrip()):
            rank = int(match[1])
            if rank in found or rank >= NODE_LIMIT:
                what = f"expected ranks below {NODE_LIMIT:,} once"
                raise InputError(FIELD, f"line {number}: {what}, got {rank}")
            found[rank] = number
    if not found or max(found) >= len(found):
        raise InputError(FIELD, f"expected an MPI Task Assignment of every rank, got {len(found)} of them")
    return len(found)
