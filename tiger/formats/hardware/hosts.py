"""Lists of hosts as `scontrol show hostnames` prints them, or with brackets, and nothing of how they are connected."""

import re
from collections.abc import Iterator

from tiger.errors import InputError
from tiger.formats.hostlist import read_list
from tiger.model.metrics import TreeMetric
from tiger.model.text import RawLine
from tiger.model.topology import Topology
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "topology"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def find_other(text: str) -> RawLine | None:
    """Return the first line that has more than one word, which none of a list of hosts has, and its number."""
    return next(((number, line) for number, line in _read_lines(text) if len(line.split()) > 1), None)


def read_hosts(text: str) -> Topology:
    """Return the hosts of a list in its order, which is that in which a launcher fills them, all 1 apart.

    A line has a host, or several between commas, where n[0-3,07] stands for n0 to n3 and n07; `#` begins a comment.
    Raises InputError of `topology` with the line at fault.
    """
    first = dict[str, int]()
    for number, line in _read_lines(text):
        where = f"line {number}"
        for name in read_list(FIELD, where, line, NODE_LIMIT - len(first)):
            if not _NAME.fullmatch(name):
                what = "expected a host of letters, digits, '.', '-' and '_'"
                raise InputError(FIELD, f"{where}: {what}, got {describe(name)}")
            if name in first:
                got = f"{describe(name)} on line {first[name]} too"
                raise InputError(FIELD, f"{where}: expected each host once, got {got}")
            first[name] = number
    if not first:
        raise InputError(FIELD, "expected hosts, got none")
    return Topology(names=tuple(first), metric=TreeMetric((len(first),), (1.0,)))


def _read_lines(text: str) -> Iterator[RawLine]:
    """Return number and content of the lines that say something, without comments."""
    for number, line in enumerate(text.split("\n"), 1):
        content = line.partition("#")[0].strip()
        if content:
            yield number, content
