"""Hosts and their slots as launchers and batch systems list them.

Sources: Open MPI, mpirun(1), and PRRTE, "Hostfiles" (`n01 slots=4 max_slots=8`); MPICH, mpiexec(1), and Intel MPI
(`n01:4`); OpenPBS, qsub(1B), `PBS_NODEFILE` (a host as often as it has slots); Grid Engine, sge_pe(5), `PE_HOSTFILE`
(`n01 4 all.q@n01 UNDEFINED`); Slurm, sbatch(1), `SLURM_JOB_NODELIST`, `SLURM_TASKS_PER_NODE`, `SLURM_CPUS_PER_TASK`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.values import WHOLE_LIMIT
from tiger.model.wording import describe

NODE_LIST, TASKS_PER_NODE = "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE"
CPUS_PER_TASK = "SLURM_CPUS_PER_TASK"
# How Open MPI writes the slots of a host, and the most that a user may give it.
_SLOTS, _MOST = "slots", ("max_slots", "max-slots")
_FACTS = (_SLOTS, *_MOST)
_COUNTED = re.compile(r"(.+):([0-9]{1,18})")
_SHARE = re.compile(r"([0-9]{1,18})(?:\(x([0-9]{1,18})\))?")


class NodeSlots(NamedTuple):
    """Hold a node by name, and its slots, None where nothing is said of them."""

    node: str
    slots: int | None = None


class HostSlots(NamedTuple):
    """Hold different hosts by name, in their order, and `slots[h]` of each, None where nothing is said of any.

    A slot is for a task of `cores` cores, 1 unless Slurm says more.
    """

    names: tuple[str, ...]
    slots: IntArray | None = None
    cores: int = 1

    def by_cores(self) -> "HostSlots":
        """Return the hosts with a slot for every core."""
        return self if self.slots is None else HostSlots(self.names, self.slots * self.cores)


class _Entry(NamedTuple):
    """Hold where a word that stands for hosts is, the word, and what the words behind it say of them."""

    where: str
    hosts: str
    facts: list[str]


# Returns the hosts that a word stands for, by where it is and how many hosts come before it.
Resolve = Callable[[str, str, int], list[NodeSlots]]


def read_host_file(field: str, text: str, resolve: Resolve) -> HostSlots:
    """Return the hosts of a text, each once, with the slots that it states; `;` ends a line as well.

    A host that comes several times has the slots of all its lines, as Open MPI adds them up, 1 for a line without a
    number, as in node files of PBS. Raises InputError of a field for slots that are none, or not of all hosts.
    """
    entries = _read_entries(field, text)
    nodes, shares, sizes = list[NodeSlots](), list[_Entry](), list[_Entry]()
    for entry in entries:
        if entry.hosts.startswith(f"{TASKS_PER_NODE}="):
            shares.append(entry)
        elif entry.hosts.startswith(f"{CPUS_PER_TASK}="):
            sizes.append(entry)
        else:
            nodes += _read_nodes(field, entry, resolve, len(nodes))
    missing = next((node.node for node in nodes if node.slots is None), None)
    if missing is not None and any(entry.facts for entry in entries):
        # Open MPI takes as many as such a host has cores, which the text does not say.
        raise InputError(field, f"expected {_SLOTS}=N for all hosts or none, got none for {describe(missing)}")
    hosts = add_slots(field, nodes)
    hosts = _share_out(field, hosts, shares) if shares else hosts
    return _widen(field, hosts, sizes) if sizes else hosts


def split_count(word: str) -> NodeSlots:
    """Return the host of `n01:4`, and how many slots it has by that; None behind a word without such a number."""
    found = _COUNTED.fullmatch(word)
    return NodeSlots(found[1], int(found[2])) if found else NodeSlots(word)


def is_entry(line: str) -> bool:
    """Return whether a line is one of a host file, with one word for hosts, whatever that is."""
    words = line.split()
    return _is_granted(words) or all(word.partition("=")[0] in (*_FACTS, TASKS_PER_NODE) for word in words[1:])


def add_slots(field: str, nodes: Sequence[NodeSlots]) -> HostSlots:
    """Return nodes once each, in the order in which they first come, with the slots of all that were listed.

    A node without a number counts 1 where others have one, or some come several times; else nothing is said of slots.
    """
    totals = dict[str, int]()
    for node, slots in nodes:
        if slots is not None:
            _check_slots(field, slots)
        totals[node] = totals.get(node, 0) + (1 if slots is None else slots)
    if len(totals) == len(nodes) and all(node.slots is None for node in nodes):
        return HostSlots(tuple(totals))
    _check_slots(field, max(totals.values()))
    return HostSlots(tuple(totals), np.array(list(totals.values()), np.int64))


def _read_entries(field: str, text: str) -> list[_Entry]:
    """Return the words for hosts with what is said of them, and that of the counts of Slurm."""
    entries = list[_Entry]()
    for where, words in _split_lines(text):
        if _is_granted(words):
            entries.append(_Entry(where, words[0], [f"{_SLOTS}={words[1]}"]))
            continue
        first = len(entries)
        for word in words:
            if word.partition("=")[0] not in _FACTS or "=" not in word:
                entries.append(_Entry(where, word.removeprefix(f"{NODE_LIST}="), []))
            elif len(entries) > first:
                entries[-1].facts.append(word)
            else:
                raise InputError(field, f"{where}: expected a host before {describe(word)}, got none")
    return entries


def _split_lines(text: str) -> Iterator[tuple[str, list[str]]]:
    """Return what the lines are called, and their words."""
    for number, line in enumerate(text.split("\n"), 1):
        for part in line.split(";"):
            yield f"line {number}", part.split()


def _is_granted(words: Sequence[str]) -> bool:
    """Return whether words are a host, its slots, a queue and maybe processors, as Grid Engine writes them."""
    return len(words) in (3, 4) and words[1].isdecimal() and words[1].isascii() and "@" in words[2]


def _read_nodes(field: str, entry: _Entry, resolve: Resolve, before: int) -> list[NodeSlots]:
    """Return the hosts of an entry with their slots."""
    nodes = resolve(entry.hosts, entry.where, before)
    given = dict[str, int]()
    for fact in entry.facts:
        key, _, value = fact.partition("=")
        kind = key.replace("-", "_")
        if kind in given or (kind == _SLOTS and any(node.slots is not None for node in nodes)):
            raise InputError(field, f"{entry.where}: expected {kind} of a host once, got {describe(fact)} again")
        given[kind] = _read_slots(field, f"{entry.where}: {key}", value)
    slots, most = given.get(_SLOTS), given.get(_MOST[0])
    if most is not None and not (slots is not None and slots <= most):
        what = f"expected {_SLOTS}=N and at least as many as {_MOST[0]}"
        raise InputError(field, f"{entry.where}: {what}, got {slots} and {most}")
    return nodes if slots is None else [node._replace(slots=slots) for node in nodes]


def _share_out(field: str, hosts: HostSlots, shares: Sequence[_Entry]) -> HostSlots:
    """Return hosts with the slots that Slurm states in their order, such as 48(x3),20."""
    where, text = shares[0].where, shares[0].hosts.partition("=")[2]
    if len(shares) > 1 or hosts.slots is not None:
        what = f"expected each host once, without slots, beside one {TASKS_PER_NODE}"
        raise InputError(field, f"{where}: {what}, got {'another' if len(shares) > 1 else 'slots'}")
    found = [_SHARE.fullmatch(part) for part in text.split(",")]
    if None in found:
        raise InputError(field, f"{where}: {TASKS_PER_NODE}: expected text such as 48(x3),20, got {describe(text)}")
    pairs = [(_read_slots(field, where, match[1]), int(match[2] or 1)) for match in found if match]
    count = sum(times for _, times in pairs)
    if count != len(hosts.names):
        what = f"expected the counts of {len(hosts.names)} hosts"
        raise InputError(field, f"{where}: {TASKS_PER_NODE}: {what}, got those of {count}")
    return HostSlots(hosts.names, np.repeat(*np.array(pairs, np.int64).T))


def _widen(field: str, hosts: HostSlots, sizes: Sequence[_Entry]) -> HostSlots:
    """Return hosts whose slots are for as many cores as Slurm states of a task."""
    where, text = f"{sizes[0].where}: {CPUS_PER_TASK}", sizes[0].hosts.partition("=")[2]
    if len(sizes) > 1 or hosts.slots is None:
        what = f"expected it once, beside {TASKS_PER_NODE}"
        raise InputError(field, f"{where}: {what}, got {'another' if len(sizes) > 1 else 'no slots'}")
    cores = _read_slots(field, where, text)
    # Python's integers, as the product may leave the range of int64.
    _check_slots(field, int(hosts.slots.max()) * cores)
    return hosts._replace(cores=cores)


def _read_slots(field: str, where: str, word: str) -> int:
    """Return a number of slots."""
    slots = int(word) if re.fullmatch(r"[0-9]{1,18}", word) else 0
    if not 1 <= slots < WHOLE_LIMIT:
        raise InputError(field, f"{where}: expected a whole number from 1 to 2**53 - 1, got {describe(word)}")
    return slots


def _check_slots(field: str, slots: int) -> None:
    """Raise InputError for a number of slots out of bounds."""
    if not 1 <= slots < WHOLE_LIMIT:
        raise InputError(field, f"expected slots of a host from 1 to 2**53 - 1, got {slots}")
