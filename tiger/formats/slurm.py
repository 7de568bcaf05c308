"""Slurm's description of a network: `topology.conf` of topology/tree, /block and /ring, `scontrol show topology`.

Source: Slurm, topology.conf(5) and scontrol(1), https://slurm.schedmd.com/topology.conf.html.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.levels import Level, LevelHardware
from tiger.formats.hardware.plain import PlainHardware
from tiger.formats.hardware.switches import SwitchTree
from tiger.formats.hardware.tori import Torus, join_tori
from tiger.formats.hostlist import read_list
from tiger.model.arrays import IntArray
from tiger.model.text import RawLine, read_wholes
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "topology"
# What a line is about, and what else it may say.
KEYS = {
    "SwitchName": ("Nodes", "Switches", "LinkSpeed", "Level"),
    "BlockName": ("Nodes", "BlockIndex", "BlockSize"),
    "AggregatedBlock": ("Nodes", "BlockIndex", "BlockSize"),
    "BlockSizes": (),
    "RingName": ("Nodes", "RingSize"),
}
# What the records of a file are, by their kinds: one of these alone.
SHAPES = (("SwitchName",), ("BlockName", "AggregatedBlock", "BlockSizes"), ("RingName",))
NUMBERS = ("LinkSpeed", "Level", "BlockIndex", "BlockSize", "RingSize")
# What scontrol prints of topology/torus3d.
TORUS = "TorusName"
# Slurm's MAX_RING_SIZE.
RING_LIMIT = 16
# Hosts in a remark; more are counted.
NAMED = 5
# Slurm itself gives up at some 20 levels of switches.
LEVEL_LIMIT = 32
# Slurm's default without BlockSizes: pairs of blocks, pairs of pairs and so on, up to 16 blocks.
DEFAULT_FACTORS = (1, 2, 4, 8, 16)
# Slurm takes 16 sizes of blocks (MAX_BLOCK_LEVELS of its topology/block): each twice the one before, they end here.
FACTOR_LIMIT = 1 << 15
_KNOWN = {key.lower(): key for kind, others in KEYS.items() for key in (kind, *others)}
_PAIR = re.compile(r'([^\s=]+)\s*=\s*(?:"([^"]*)"|([^\s="]+))(?:\s+|$)')
Network = SwitchTree | LevelHardware | PlainHardware
_LINE = re.compile(rf"\s*(?:{'|'.join([*KEYS, TORUS])})\s*=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Record:
    """Hold a line of the file: where it begins, the key that says what it is about, and all its values.

    `words` are what keys are called in the file, where that is something else.
    """

    line: int
    kind: str
    values: dict[str, str]
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the name of the switch or block."""
        return self.values[self.kind]

    def word(self, key: str) -> str:
        """Return the name of a key in the file."""
        return self.words.get(key, key)

    def error(self, key: str, reason: str) -> InputError:
        """Return an error at a key of this line."""
        return InputError(FIELD, f"line {self.line}: {self.word(key)}: {reason}")


def is_network(text: str) -> bool:
    """Return whether a line of a text begins with what a switch, a block, a ring or a torus begins with."""
    return any(_LINE.match(line) for line in text.split("\n"))


def read_network(text: str) -> Network:
    """Return the hosts of a `topology.conf` or of what `scontrol show topology` prints, in the order of its lists.

    Under switches two hosts are as far apart as there are links between them, and those of separate trees do not reach
    each other. A host below several leaf switches counts below the first, with a remark. Hosts of a block are 1 apart,
    and 1 more for each larger block that BlockSizes aggregates; those of a ring as many as there are steps between
    them. LinkSpeed plays no part, as in Slurm. Raises InputError of `topology` with the line and the key at fault.
    """
    return read_records(list(_read_records(text)))


def read_records(records: Sequence[Record]) -> Network:
    """Return the hosts that records state, either of switches, of blocks or of rings."""
    switches, blocks, rings = ([record for record in records if record.kind in kinds] for kinds in SHAPES)
    firsts = sorted((each[0] for each in (switches, blocks, rings) if each), key=lambda record: record.line)
    if len(firsts) > 1:
        raise firsts[1].error(firsts[1].kind, "expected either switches, blocks or rings in a file, got several")
    if rings:
        return _read_rings(rings)
    return read_switches(switches) if switches else _read_blocks(blocks)


def read_switches(records: Sequence[Record]) -> SwitchTree:
    """Return the switches of a file, whose hosts are those of the leaf switches."""
    index = _index(records)
    parent = np.full(len(records), -1)
    leaves = list[Record]()
    for k, record in enumerate(records):
        either = f"{record.word('Nodes')} or {record.word('Switches')}"
        if "Nodes" not in record.values and "Switches" not in record.values:
            raise record.error("SwitchName", f"expected {either} below {describe(record.name)}, got neither")
        if "Switches" not in record.values:
            leaves.append(record)
            continue
        # In what scontrol prints a line also repeats the hosts further below; only there it states its level.
        if "Nodes" in record.values and "Level" not in record.values:
            raise record.error("Nodes", f"expected {either}, got both")
        for name in _read_list(record, "Switches", NODE_LIMIT):
            child = index.get(name)
            if child is None:
                raise record.error("Switches", f"expected switches of the file, got {describe(name)}")
            if parent[child] >= 0:
                where = f"{describe(name)}, which line {records[parent[child]].line} lists already"
                raise record.error("Switches", f"expected switches below one switch each, got {where}")
            parent[child] = k
    _check_depths(records, parent)
    hosts, remarks = _read_leaves(leaves)
    for name, leaf in hosts.items():
        if name in index:
            where = f"{describe(name)}, a switch on line {records[index[name]].line}"
            raise leaf.error("Nodes", f"expected hosts that are called other than switches, got {where}")
    return SwitchTree(
        hosts=tuple(hosts),
        switches=tuple(index),
        leaf=np.array([index[leaf.name] for leaf in hosts.values()]),
        parent=parent,
        remarks=remarks,
    )


def _read_rings(records: Sequence[Record]) -> PlainHardware:
    """Return the hosts of rings, which do not reach each other."""
    _index(records)
    for record in records:
        if "Nodes" not in record.values:
            raise record.error("RingName", f"expected {record.word('Nodes')} in {describe(record.name)}, got none")
    members: dict[str, list[str]] = {record.name: [] for record in records}
    for name, record in _read_hosts(records).items():
        members[record.name].append(name)
        if len(members[record.name]) > RING_LIMIT:
            raise record.error("Nodes", f"expected at most {RING_LIMIT} hosts in a ring, got more")
    return join_tori([Torus(name, (len(hosts),), tuple(hosts)) for name, hosts in members.items()])


def _read_blocks(records: Sequence[Record]) -> LevelHardware:
    """Return the hosts of blocks, which aggregate as they follow one another."""
    blocks = [record for record in records if record.kind == "BlockName"]
    if not blocks:
        raise InputError(FIELD, "expected lines SwitchName=.., BlockName=.. or RingName=.., got none")
    index = _index(blocks)
    for record in blocks:
        if "Nodes" not in record.values:
            raise record.error("BlockName", f"expected {record.word('Nodes')} in {describe(record.name)}, got none")
    hosts = _read_hosts(blocks)
    block = np.array([index[record.name] for record in hosts.values()])
    factors = [factor for factor in _read_factors(records) if factor < len(blocks)]
    levels = [Level("node", 1.0, np.arange(len(hosts)))]
    for above, factor in enumerate(factors, 2):
        named = ("block", tuple(index)) if factor == 1 else (f"block{factor}", ())
        levels.append(Level(named[0], float(above), block // factor, named[1]))
    return LevelHardware(names=tuple(hosts), levels=tuple(reversed(levels)))


def _read_factors(records: Sequence[Record]) -> list[int]:
    """Return how many blocks make one of each size, 1 first."""
    given = [record for record in records if record.kind == "BlockSizes"]
    for record in given[1:]:
        raise record.error("BlockSizes", f"expected it once, got it on line {given[0].line} too")
    if given:
        words = given[0].name.split(",")
        sizes = read_wholes(FIELD, f"line {given[0].line}: {given[0].word('BlockSizes')}", words).tolist()
        return _divide(given[0], "BlockSizes", sizes)
    found = {int(record.values["BlockSize"]): record for record in records if "BlockSize" in record.values}
    if found:
        return _divide(found[max(found)], "BlockSize", sorted(found))
    return list(DEFAULT_FACTORS)


def _divide(record: Record, key: str, sizes: list[int]) -> list[int]:
    """Return sizes of blocks as multiples of the first one, which must be rising powers of two."""
    base = sizes[0]
    factors = [size // base if base and size % base == 0 else 0 for size in sizes]
    sound = all(0 < factor <= FACTOR_LIMIT and factor & (factor - 1) == 0 for factor in factors)
    if not (sound and all(a < b for a, b in pairwise(factors))):
        got = ",".join(map(str, sizes))
        raise record.error(key, f"expected a size and rising powers of two times it, got {describe(got)}")
    return factors


def _index(records: Sequence[Record]) -> dict[str, int]:
    """Return the index of every switch or block."""
    index: dict[str, int] = {}
    for k, record in enumerate(records):
        first = records[index.setdefault(record.name, k)]
        if first is not record:
            got = f"{describe(record.name)} on line {first.line} too"
            raise record.error(record.kind, f"expected different names, got {got}")
    return index


def _check_depths(records: Sequence[Record], parent: IntArray) -> None:
    """Raise InputError where switches form a cycle or more levels than the limit."""
    above = np.arange(len(records))
    for _ in range(LEVEL_LIMIT):
        above = np.where(above >= 0, parent[above], -1)
    deep = np.flatnonzero(above >= 0)
    if not deep.size:
        return
    seen, at = set[int](), int(deep[0])
    while at >= 0 and at not in seen:
        seen.add(at)
        at = int(parent[at])
    if at >= 0:
        raise records[at].error("Switches", f"expected a tree of switches, got a cycle through {records[at].name!r}")
    what = f"expected at most {LEVEL_LIMIT} levels of switches, got {len(seen)}"
    raise records[deep[0]].error("SwitchName", what)


def _read_hosts(records: Sequence[Record]) -> dict[str, Record]:
    """Return the hosts of all lists, each with its line."""
    hosts: dict[str, Record] = {}
    for record in records:
        for name in _read_list(record, "Nodes", NODE_LIMIT - len(hosts)):
            if name in hosts:
                raise record.error("Nodes", f"expected hosts once, got {describe(name)} on line {hosts[name].line} too")
            hosts[name] = record
    return hosts


def _read_leaves(records: Sequence[Record]) -> tuple[dict[str, Record], tuple[str, ...]]:
    """Return the hosts of leaf switches, each with the first that lists it, and a remark on those of several."""
    hosts, several, count = dict[str, Record](), dict[str, None](), 0
    for record in records:
        names = _read_list(record, "Nodes", NODE_LIMIT - count)
        count += len(names)
        for name in names:
            first = hosts.setdefault(name, record)
            if first is not record:
                several[name] = None
        again = next((name for name, times in Counter(names).items() if times > 1), None)
        if again is not None:
            raise record.error("Nodes", f"expected hosts once in a list, got {describe(again)} again")
    if not several:
        return hosts, ()
    more = f" and {len(several) - NAMED} more" if len(several) > NAMED else ""
    named = f"{', '.join(list(several)[:NAMED])}{more}"
    return hosts, (f"hosts below several leaf switches count below the first that lists them: {named}",)


def _read_list(record: Record, key: str, most: int) -> list[str]:
    """Return the names of a host list, up to a limit."""
    return read_list(FIELD, f"line {record.line}: {record.word(key)}", record.values[key], most)


def _read_records(text: str) -> Iterator[Record]:
    """Read every line that is not blank."""
    for number, line in _join_lines(text):
        values = dict[str, str]()
        at = 0
        while at < len(line):
            pair = _PAIR.match(line, at)
            if pair is None:
                raise InputError(FIELD, f"line {number}: expected KEY=VALUE, got {describe(line[at:])}")
            key = _KNOWN.get(pair[1].lower())
            if pair[1].lower() == TORUS.lower():
                what = "expected topology.yaml, as what scontrol prints of a torus does not say which host is where"
                raise InputError(FIELD, f"line {number}: {TORUS}: {what}")
            if key is None:
                known = ", ".join(_KNOWN.values())
                raise InputError(FIELD, f"line {number}: expected a key out of {known}, got {describe(pair[1])}")
            if key in values:
                raise InputError(FIELD, f"line {number}: {key}: expected it once in a line, got it again")
            values[key] = pair[3] if pair[2] is None else pair[2]
            at = pair.end()
        yield _make_record(number, values)


def _make_record(number: int, values: dict[str, str]) -> Record:
    """Return the record of a line, whose keys must go together."""
    kinds = [kind for kind in KEYS if kind in values]
    if not kinds:
        raise InputError(FIELD, f"line {number}: expected one of {', '.join(KEYS)}, got {', '.join(values)} alone")
    record = Record(number, kinds[0], values)
    for key in values:
        if key != record.kind and key not in KEYS[record.kind]:
            raise record.error(key, f"expected no such key beside {record.kind}, got it")
    if not record.name:
        raise record.error(record.kind, "expected a name, got an empty one")
    for key in NUMBERS:
        if key in values:
            values[key] = str(read_wholes(FIELD, f"line {number}: {key}", [values[key]])[0])
    return record


def _join_lines(text: str) -> Iterator[RawLine]:
    """Return number and content of the lines that are not blank, without comments; a backslash continues a line."""
    parts, first = list[str](), 1
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        content = line.partition("#")[0].rstrip()
        continued = content.endswith("\\") and number < len(lines)
        parts.append(content[:-1] if continued else content)
        if not continued:
            if whole := "".join(parts).strip():
                yield first, whole
            parts, first = [], number + 1
