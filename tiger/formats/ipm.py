"""Traffic that IPM has profiled: the XML that it writes for an MPI program (`.xml`)."""

import re
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.formats.xmltext import Element, read_elements
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "tasks"
ROOT = "ipm_job_profile"
# 1,024 ranks with 1,000 combinations of call, size and partner each; takes 1 GB.
ELEMENT_LIMIT = 1 << 20
# The calls whose `orank` is where they send. IPM states no bytes of persistent requests.
SENDS = frozenset(f"MPI_{name}" for name in (
    "Send", "Ssend", "Rsend", "Bsend", "Isend", "Issend", "Irsend", "Ibsend", "Sendrecv", "Sendrecv_replace",
))  # fmt: skip
_DIGITS = re.compile(r"[0-9]{1,15}")


def read_task_graph(text: str) -> TaskGraph:
    """Return the bytes that ranks "0", "1", .. send each other from point to point.

    Collectives, of which IPM states no partners, do not count; neither do persistent requests, whose bytes it does not
    state. What is sent to MPI_PROC_NULL IPM states as sent to rank 0. Raises InputError of `tasks` with the line for
    XML of something else, malformed numbers, and unless every rank is there once, with its calls.

    Source: IPM 2.0.6, src/report_xml.c and etc/ipm_key_mpi, https://github.com/nerscadmin/IPM.
    """
    elements = read_elements(text, FIELD, ELEMENT_LIMIT)
    if elements[0].tag != ROOT:
        raise elements[0].error(FIELD, f"expected <{ROOT}> around all, got {describe(elements[0].tag)}")
    owners = _find_owners(elements)
    ranks = _read_ranks(elements)
    sends = [k for k, element in enumerate(elements) if element.tag == "hent" and element.values.get("call") in SENDS]
    if all(element.tag != "hent" for element in elements):
        raise InputError(FIELD, "expected the calls of ranks (<hent>), which IPM writes with IPM_LOG=full, got none")
    rows, columns, volumes = list[int](), list[int](), list[float]()
    for k in sends:
        if owners[k] < 0:
            raise elements[k].error(FIELD, "expected calls inside of a <task>, got one outside")
        rows.append(ranks[owners[k]])
        columns.append(_read_whole(elements[k], "orank", len(ranks) - 1))
        volumes.append(float(_read_whole(elements[k], "bytes") * _read_whole(elements[k], "count")))
    ends = np.array(rows, np.int32), np.array(columns, np.int32)
    traffic = sp.csr_array((np.array(volumes), ends), shape=(len(ranks), len(ranks)))
    return TaskGraph(names=tuple(map(str, range(len(ranks)))), traffic=traffic)


def _find_owners(elements: Sequence[Element]) -> list[int]:
    """Return for every element the position of the <task> that it is part of, -1 outside of all."""
    owners = list[int]()
    for k, element in enumerate(elements):
        above = owners[element.parent] if element.parent >= 0 else -1
        owners.append(k if element.tag == "task" else above)
    return owners


def _read_ranks(elements: Sequence[Element]) -> dict[int, int]:
    """Return the rank of every <task> by its position; all ranks up to the number that they state must be there."""
    ranks, found = dict[int, int](), dict[int, Element]()
    for k, element in enumerate(elements):
        # A rank that IPM found to be like another one states no calls, and others state their partners relative to it.
        if element.tag == "taskcopy":
            raise element.error(FIELD, "expected all ranks with their own calls, got a copy, as IPM clusters them")
        if element.tag != "task":
            continue
        size = _read_whole(element, "mpi_size", NODE_LIMIT)
        ranks[k] = _read_whole(element, "mpi_rank", size - 1)
        if ranks[k] in found:
            raise element.error(FIELD, f"expected ranks once, got {ranks[k]} on line {found[ranks[k]].line} too")
        found[ranks[k]] = element
    sizes = {element.values["mpi_size"] for element in found.values()}
    if len(sizes) != 1 or len(found) != int(min(sizes)):
        given = " or ".join(sorted(sizes)) or "at least 1"
        raise InputError(FIELD, f"expected every rank (<task>) of mpi_size {describe(given)}, got {len(found)}")
    return ranks


def _read_whole(element: Element, name: str, most: int = 10**15) -> int:
    """Return an attribute as a whole number up to a limit."""
    text = element.values.get(name, "")
    if not _DIGITS.fullmatch(text) or int(text) > most:
        raise element.error(FIELD, f"expected {name} as a whole number up to {most}, got {describe(text)}")
    return int(text)
