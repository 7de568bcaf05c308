"""The switches and hosts of an InfiniBand fabric as `ibnetdiscover` prints them.

Source: rdma-core, infiniband-diags/ibnetdiscover.c and its ibnetdiscover(8), https://github.com/linux-rdma/rdma-core.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.linked import LinkedHardware
from tiger.formats.hardware.plain import MessageRates
from tiger.model.text import RawLine
from tiger.model.topology import Links, Topology
from tiger.model.units import GIGABYTE
from tiger.model.wiring import Wiring
from tiger.model.wording import describe

FIELD = "topology"
# Gbit/s of a lane (InfiniBand Architecture Specification, volume 1).
LANE_SPEEDS: Mapping[str, float] = {
    "SDR": 2.5,
    "DDR": 5.0,
    "QDR": 10.0,
    "FDR10": 10.3125,
    "FDR": 14.0625,
    "EDR": 25.78125,
    "HDR": 53.125,
    "NDR": 106.25,
    "XDR": 212.5,
}
# Different widths of links, for each of which all ways are looked for: more than fabrics have.
WIDTH_LIMIT = 32
_NODE = re.compile(r'(Switch|Ca|Rt)\s+[0-9]+\s+"([^"]+)"\s*(?:#\s*"([^"]*)")?.*')
# A port, which has a further number outside of a chassis, and what it leads to.
_NUMBER = r"\[([0-9]{1,4})\](?:\[ext [0-9]+\])?(?:\s*\([0-9a-fA-F]+\))?"
_PORT = re.compile(rf'{_NUMBER}\s+"([^"]+)"{_NUMBER}\s*(?:#(.*))?')
_WIDTH = re.compile(r"\s([0-9]{1,2})x([A-Z]+[0-9]*)(?:\s|$)")
_FACT = re.compile(r"[a-z]+=\S+(?:\s+#.*)?")
# What stands above the nodes of a chassis with -g, `--Grouping`.
_GROUP = re.compile(r"Chassis [0-9]+(?: \(guid 0x[0-9a-fA-F]+\))?|Hostname: .*|Non-Chassis Nodes")
# What goes to standard error (libibmad/mad.h and libibnetdisc/internal.h), as where a device does not answer.
_FAULT = re.compile(r"ib(?:warn|panic|debug|error): .*|\S+\.[ch]:[0-9]+; .*")
# What drivers call an adapter: the host, and which of its adapters it is; others bear the name of their model.
_ADAPTER = re.compile(r"(\S+)(?: (?:HCA-[0-9]+|mlx\S+|hfi\S+|qib\S+|ib\S+))?")
# Nodes in a remark; more are counted.
NAMED = 5
End = tuple[str, int]


class _Node(NamedTuple):
    """Hold the name of a node, whether it is a host, and whether it is an adapter that names none."""

    name: str
    host: bool
    nameless: bool = False


class _Port(NamedTuple):
    """Hold the other end of a link, the GB/s that it carries, None where that is not stated, and the line."""

    other: End
    width: float | None
    line: int


class _Listing(NamedTuple):
    """Hold all nodes by GUID, the ports that are linked, and the lines of errors between them."""

    nodes: dict[str, _Node]
    ports: dict[End, _Port]
    faults: list[RawLine]


def is_network(text: str) -> bool:
    """Return whether a line of a text begins as a switch or an adapter does."""
    return any(_NODE.fullmatch(line.strip()) for line in text.splitlines())


def read_network(text: str) -> LinkedHardware:
    """Return the hosts, then switches, routers and other adapters without slots, with links of length 1 in GB/s.

    Hosts are called by the descriptions of their adapters, `n1` of `n1 HCA-1` and `n1 mlx5_0`. Adapters that are called
    after their model say of no host that it runs anything: they hold no tasks, and a remark counts them, as one does
    with lines of errors in the text. Parallel links are added up. Nodes that aggregate for switches hold no tasks.
    Without any widths all links carry 1. The rate of a message between each two is the widest of the shortest ways: it
    crosses one link at a time, of parallel ones the widest. Raises InputError of `topology` with the line, and for a
    fabric whose adapters all name no host.
    """
    listing = _read_listing(text)
    fabric = _join(listing)
    return LinkedHardware(fabric, "node", partial(_find_rates, fabric, listing.nodes, listing.ports))


def _read_listing(text: str) -> _Listing:
    """Return what the lines of a text say."""
    listing, key = _Listing({}, {}, []), ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#") or _FACT.fullmatch(line) or _GROUP.fullmatch(line):
            continue
        if found := _NODE.fullmatch(line):
            key = found[2]
            if key in listing.nodes:
                raise InputError(FIELD, f"line {number}: expected each node once, got {describe(key)} again")
            listing.nodes[key] = _name_node(found[1], key, found[3] or "")
        elif (port := _PORT.fullmatch(line)) and key:
            end = key, int(port[1])
            if end in listing.ports:
                what = f"expected each port once, got [{end[1]}] of {describe(key)} again"
                raise InputError(FIELD, f"line {number}: {what}")
            listing.ports[end] = _Port((port[2], int(port[3])), _read_width(number, port[4] or ""), number)
        elif _FAULT.fullmatch(line):
            listing.faults.append((number, line))
        else:
            raise InputError(FIELD, f"line {number}: expected a switch, an adapter or a port, got {describe(line)}")
    return listing


def _name_node(kind: str, key: str, description: str) -> _Node:
    """Return the name of a node."""
    found = _ADAPTER.fullmatch(description)
    if kind != "Ca" or "Aggregation Node" in description:
        return _Node(key, host=False)
    return _Node(found[1], host=True) if found else _Node(key, host=False, nameless=True)


def _read_width(number: int, comment: str) -> float | None:
    """Return the GB/s that a link such as 4xHDR carries, None where it says nothing."""
    found = _WIDTH.search(comment.rpartition('"')[2])
    if found is None:
        return None
    if found[2] not in LANE_SPEEDS or found[1].strip("0") == "":
        known = ", ".join(LANE_SPEEDS)
        raise InputError(
            FIELD, f"line {number}: expected lanes and a speed out of {known}, got {describe(found[0].strip())}"
        )
    return int(found[1]) * LANE_SPEEDS[found[2]] / 8


def _join(listing: _Listing) -> Wiring:
    """Return all nodes and the links of the ports that join them."""
    nodes, ports = listing.nodes, listing.ports
    hosts = list(dict.fromkeys(node.name for node in nodes.values() if node.host))
    names = hosts + [node.name for node in nodes.values() if not node.host]
    index = {name: k for k, name in enumerate(names)}
    given = any(port.width is not None for port in ports.values())
    sums = dict[tuple[int, int], float]()
    for end, port in ports.items():
        _check_port(nodes, ports, end)
        if given and port.width is None:
            raise InputError(
                FIELD, f"line {port.line}: expected lanes and a speed such as 4xHDR as elsewhere, got none"
            )
        # Every link is printed at both of its ends, unless the other one could not be asked.
        if port.other in ports and port.other < end:
            continue
        a, b = sorted(index[nodes[key].name] for key, _ in (end, port.other))
        if a != b:
            sums[a, b] = sums.get((a, b), 0.0) + (port.width or 1.0)
    ends = np.array(list(sums), np.int64).reshape(-1, 2)
    links = Links(u=ends[:, 0], v=ends[:, 1], weight=np.ones(len(ends)), bandwidth=np.array(list(sums.values())))
    slots = np.repeat([1, 0], [len(hosts), len(names) - len(hosts)])
    return Wiring(names=tuple(names), links=links, slots=slots, remarks=_remark(listing))


def _remark(listing: _Listing) -> tuple[str, ...]:
    """Return remarks on adapters that name no host, and on errors; raise InputError where no adapter names one."""
    nameless, remarks = [node.name for node in listing.nodes.values() if node.nameless], list[str]()
    if nameless:
        if not any(node.host for node in listing.nodes.values()):
            what = "expected adapters that name their host, such as 'n1 mlx5_0', as rdma-ndd of rdma-core has them"
            raise InputError(FIELD, f"{what}, got none of {len(nameless)}")
        more = f" and {len(nameless) - NAMED} more" if len(nameless) > NAMED else ""
        named = f"{', '.join(nameless[:NAMED])}{more}"
        remarks.append(f"adapters that name no host hold no tasks, {len(nameless)} of them: {named}")
    if listing.faults:
        number, line = listing.faults[0]
        what = "lines of errors, so that parts of the fabric may be missing"
        remarks.append(f"{what}, {len(listing.faults)} of them, the first on line {number}: {describe(line, 120)}")
    return tuple(remarks)


def _find_rates(fabric: Wiring, nodes: Mapping[str, _Node], ports: Mapping[End, _Port]) -> MessageRates:
    """Return the bytes per second of the widest shortest way between each two nodes, nothing without widths."""
    index = {name: k for k, name in enumerate(fabric.names)}
    widths = dict[tuple[int, int], float]()
    for (key, _), port in ports.items():
        if port.width is None:
            return MessageRates()
        a, b = sorted((index[nodes[key].name], index[nodes[port.other[0]].name]))
        if a != b:
            widths[a, b] = max(widths.get((a, b), 0.0), port.width)
    ends, width = np.array(list(widths), np.int64).reshape(-1, 2), np.array(list(widths.values()))
    different = np.unique(width)[::-1].tolist()
    if len(different) > WIDTH_LIMIT:
        raise InputError(FIELD, f"expected at most {WIDTH_LIMIT} different widths of links, got {len(different)}")
    everyone = np.arange(len(fabric.names))
    hops = fabric.measure().metric.between(everyone[:, None], everyone[None, :])
    rates = np.zeros(hops.shape)
    # The links of one width and more have a way as short as any, or the next narrower ones are needed.
    for narrowest in different:
        some = Topology.from_links(fabric.names, Links.unit(ends[width >= narrowest]))
        reached = (some.metric.between(everyone[:, None], everyone[None, :]) == hops) & (rates == 0)
        rates[reached] = narrowest * GIGABYTE
        if rates.all():
            break
    return MessageRates(bandwidth=rates)


def _check_port(nodes: Mapping[str, _Node], ports: Mapping[End, _Port], end: End) -> None:
    """Raise InputError unless the other end of a port is a node of the text, and leads back where it is listed."""
    other, line = ports[end].other, ports[end].line
    if other[0] not in nodes:
        raise InputError(FIELD, f"line {line}: expected a switch or an adapter of the text, got {describe(other[0])}")
    if other in ports and ports[other].other != end:
        what = f"expected the port that leads back, on line {ports[other].line}"
        raise InputError(FIELD, f"line {line}: {what}, got [{other[1]}] of {describe(other[0])}")
