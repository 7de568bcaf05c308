"""Traffic that Open MPI has monitored: the `.prof` files that its component `pml_monitoring` writes."""

import re
from collections.abc import Set

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

# What is sent by the program, by the library, and by one-sided puts and gets; collectives consist of the first two.
KINDS = "EISR"
_SENT = re.compile(r"([EISRC])\t([0-9]{1,7})\t([0-9]{1,7})\t([0-9]{1,20}) bytes\t[0-9]{1,20} msgs sent(?:\t[0-9,]*)?")
_COLLECTIVE = re.compile(r"(?:O2A|A2O|A2A)\t([0-9]{1,7})\t[0-9]{1,20} bytes\t[0-9]{1,20} msgs sent")
_WORLD = re.compile(r"D\tMPI_COMM_WORLD\tprocs: ([0-9]{1,7}(?:,[0-9]{1,7})*)")

# A kind, the two ranks of a message as they are written.
Pair = tuple[str, int, int]


def read_task_graph(text: str) -> TaskGraph:
    """Return the bytes between ranks "0", "1", .. that the concatenated files of all ranks state.

    Messages that the program sends (`E`), those of the library such as parts of collectives (`I`), one-sided puts (`S`)
    and gets (`R`, from the second rank to the first) add up. Lines of collectives repeat these and do not count. Raises
    InputError of `tasks` for malformed lines, with their number, for a pair that is stated twice in one way, for ranks
    outside MPI_COMM_WORLD where that is stated, and where the file of one of its ranks is missing.

    Source: Open MPI 4.1, ompi/mca/common/monitoring, https://github.com/open-mpi/ompi.
    """
    sent: dict[Pair, tuple[int, float]] = {}
    writers, worlds = dict[int, int](), dict[str, int]()
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip()
        if match := _SENT.fullmatch(line):
            pair = match[1], _check_rank(number, match[2]), _check_rank(number, match[3])
            if pair in sent:
                what = f"{' '.join(map(str, pair))} on line {sent[pair][0]} too"
                raise InputError("tasks", f"line {number}: expected a pair of ranks once, got {what}")
            sent[pair] = number, float(match[4])
            writers.setdefault(pair[1], number)
        elif match := _COLLECTIVE.fullmatch(line):
            writers.setdefault(_check_rank(number, match[1]), number)
        elif match := _WORLD.fullmatch(line):
            # The file of every rank repeats the list.
            worlds.setdefault(match[1], number)
        elif line and not line.startswith(("#", "D\t")):
            expected = "expected E, I, S, R or C, two ranks, bytes and msgs sent, separated by tabs"
            raise InputError("tasks", f"line {number}: {expected}, got {describe(line)}")
    world = {_check_rank(number, rank) for ranks, number in worlds.items() for rank in ranks.split(",")}
    _check_writers(writers.keys(), world)
    targets = {pair[2]: number for pair, (number, _) in sent.items()}
    for rank, number in [*writers.items(), *targets.items()]:
        if world and rank not in world:
            raise InputError("tasks", f"line {number}: expected ranks of MPI_COMM_WORLD, got {rank}")
    return _make_graph(sent, max(writers.keys() | targets.keys() | world))


def _check_rank(number: int, digits: str) -> int:
    """Return a rank below the limit, or raise InputError that names the line."""
    if int(digits) >= NODE_LIMIT:
        raise InputError("tasks", f"line {number}: expected ranks below {NODE_LIMIT:,}, got {digits}")
    return int(digits)


def _check_writers(writers: Set[int], world: set[int]) -> None:
    """Raise InputError unless all ranks of MPI_COMM_WORLD have written lines, where it is stated."""
    if not writers:
        raise InputError("tasks", "expected lines of bytes between ranks, got none")
    missing = world - writers
    if missing:
        expected = f"expected the files of all {len(world)} ranks, one after another"
        raise InputError("tasks", f"{expected}, got none of rank {min(missing)}")


def _make_graph(sent: dict[Pair, tuple[int, float]], last: int) -> TaskGraph:
    """Return the task graph of all ranks up to the last one."""
    counted = [(pair, size) for pair, (_, size) in sent.items() if pair[0] in KINDS and size]
    # A get moves data towards the rank that states it.
    ends = [(b, a) if kind == "R" else (a, b) for (kind, a, b), _ in counted]
    rows, columns = np.array(ends, np.int32).reshape(-1, 2).T
    volumes = np.array([size for _, size in counted])
    traffic = sp.csr_array((volumes, (rows, columns)), shape=(last + 1, last + 1))
    return TaskGraph(names=tuple(map(str, range(last + 1))), traffic=traffic)
