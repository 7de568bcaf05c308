"""Host files of launchers, and lists as `scontrol show hostnames` prints them: nothing of how hosts are connected."""

import re
from collections.abc import Iterator
from dataclasses import replace

from tiger.errors import InputError
from tiger.formats.hostfile import CPUS_PER_TASK, NodeSlots, is_entry, read_host_file, split_count
from tiger.formats.hostlist import read_list, split_list
from tiger.model.metrics import TreeMetric
from tiger.model.text import RawLine
from tiger.model.topology import Topology
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "topology"
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_COMMENT = re.compile(r"#[^\n]*")


def find_other(text: str) -> RawLine | None:
    """Return the first line that says what none of a host file does, and its number."""
    return next(((number, line) for number, line in _read_lines(text) if not is_entry(line)), None)


def read_hosts(text: str) -> Topology:
    """Return the hosts of a list in its order, which is that in which a launcher fills them, all 1 apart.

    A line has a host, or several between commas, where n[0-3,07] stands for n0 to n3 and n07; `#` begins a comment.
    Slots are those of `hostfile.read_host_file`. Raises InputError of `topology` with the line at fault.
    """
    names, slots, cores = read_host_file(FIELD, _COMMENT.sub("", text), _resolve)
    if not names:
        raise InputError(FIELD, "expected hosts, got none")
    if cores > 1:
        raise InputError(FIELD, f"expected {CPUS_PER_TASK} in an allocation alone (--allocation), got it among hosts")
    bare = Topology(names=names, metric=TreeMetric((len(names),), (1.0,)))
    return bare if slots is None else replace(bare, slots=slots, slots_stated=True, slots_granted=True)


def _resolve(word: str, where: str, before: int) -> list[NodeSlots]:
    """Return the hosts between the commas of a word, each with the slots behind it."""
    nodes = list[NodeSlots]()
    for piece in split_list(word) or [word]:
        text, slots = split_count(piece)
        for name in read_list(FIELD, where, text, NODE_LIMIT - before - len(nodes)):
            if not _NAME.fullmatch(name):
                what = "expected a host of letters, digits, '.', '-' and '_'"
                raise InputError(FIELD, f"{where}: {what}, got {describe(name)}")
            nodes.append(NodeSlots(name, slots))
    return nodes


def _read_lines(text: str) -> Iterator[RawLine]:
    """Return number and content of the lines that say something, without comments."""
    for number, line in enumerate(text.split("\n"), 1):
        content = line.partition("#")[0].strip()
        if content:
            yield number, content
