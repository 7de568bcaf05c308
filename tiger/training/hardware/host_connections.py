"""The connections between the hosts of a network: those of its distances or levels, or those that it states itself."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.wording import describe
from tiger.training.hardware.cluster import NO_LINK
from tiger.training.hardware.connection import CONNECTION_FIELDS, Affine, Catalogue, connection
from tiger.training.hardware.kinds import NETWORK_LATENCY_S
from tiger.training.hardware.machines import read_network
from tiger.training.hardware.record import check_names, check_record

if TYPE_CHECKING:
    from tiger.formats.hardware.levels import DescribedHardware
    from tiger.formats.hardware.plain import MessageRates
    from tiger.model.topology import Topology

FIELD, HOSTS_FIELD = "cluster/networks", "cluster/hosts"
# Distances in a message; more are counted.
NAMED = 8
# All pairs of 256 hosts, whose curves take some seconds to make.
PAIR_LIMIT = 32_768


def join_hosts(hardware: "DescribedHardware", networks: object, catalogue: Catalogue) -> IntArray:
    """Return the number of the connection of each two hosts [h, h], -1 for those that cannot reach each other.

    `networks` is a list of connections, one for each distance between hosts, the nearest first; or an object of them by
    level, where one that is not stated is that of the level inside it; or None where the network states bandwidths.
    In the latter two a latency that nobody states is that of NCCL between machines. Raises InputError of
    `cluster/networks` or below, and of `cluster/hosts` for what the network states itself.
    """
    if isinstance(networks, list | tuple):
        return _join_by_distance(_measure(hardware.topology({})), networks, catalogue)
    # Stated distances of levels hold in a tree that is not regular, too.
    nodes = hardware.topology(hardware.distances)
    distances, rates = _measure(nodes), _find_rates(hardware, nodes)
    apart = np.isfinite(distances) & ~np.eye(len(distances), dtype=bool)
    link = np.full(distances.shape, NO_LINK, np.int64)
    if networks is None and rates.bandwidth is not None:
        link[apart] = _number_pairs(catalogue, rates.bandwidth[apart], np.full(apart.sum(), NETWORK_LATENCY_S))
        return link
    levels = hardware.distances
    given = _check_levels({} if networks is None else networks, list(levels))
    # Farther than the last level are hosts of a network that has no names for more.
    level = np.minimum(np.searchsorted(list(levels.values()), distances), len(levels) - 1)
    latency_s = np.zeros(distances.shape) if rates.latency_s is None else rates.latency_s
    entry: Mapping[str, object] | None = None
    for k, name in enumerate(levels):
        entry, chosen = given.get(name, entry), apart & (level == k)
        if chosen.any():
            link[chosen] = _number_level(catalogue, name, _require(entry, name, list(levels)), latency_s[chosen])
    return link


def _join_by_distance(distances: FloatArray, networks: Sequence[object], catalogue: Catalogue) -> IntArray:
    """Return the numbers of connections that are listed by distance."""
    steps = np.unique(distances[np.isfinite(distances) & ~np.eye(len(distances), dtype=bool)])
    if len(networks) != len(steps):
        listed = ", ".join(f"{step:g}" for step in steps[:NAMED].tolist()) + (", .." if len(steps) > NAMED else "")
        what = f"expected one for each of {len(steps)} distances between hosts ({listed or 'none'})"
        raise InputError(FIELD, f"{what}, got {len(networks)}")
    numbers = [catalogue.number(read_network(f"{FIELD}/{k}", entry)) for k, entry in enumerate(networks)]
    # Those who cannot reach each other are farther apart than any.
    link: IntArray = np.array([*numbers, NO_LINK])[np.searchsorted(steps, distances)]
    return link


def _measure(nodes: "Topology") -> FloatArray:
    """Return the larger distance of each two hosts."""
    distances = nodes.metric.between(nodes.hosts[:, None], nodes.hosts[None, :])
    return np.maximum(distances, distances.T)


def _find_rates(hardware: "DescribedHardware", nodes: "Topology") -> "MessageRates":
    """Return the rates and latencies that the network has between each two hosts."""
    from tiger.formats.hardware.linked import LinkedHardware
    from tiger.formats.hardware.plain import MessageRates, PlainHardware

    rates = hardware.find_rates() if isinstance(hardware, PlainHardware | LinkedHardware) else MessageRates()
    between = np.ix_(nodes.hosts, nodes.hosts)
    return MessageRates(
        bandwidth=None if rates.bandwidth is None else rates.bandwidth[between],
        latency_s=None if rates.latency_s is None else rates.latency_s[between],
    )


def _check_levels(value: object, levels: Sequence[str]) -> dict[str, Mapping[str, object]]:
    """Return the fields of the connection of every level that is stated."""
    given = check_names(FIELD, value)
    for name in given:
        if name not in levels:
            what = f"levels out of {', '.join(levels)}" if levels else "no levels, as there is one host"
            raise InputError(FIELD, f"expected {what}, got {describe(name)}")
    return {name: check_record(f"{FIELD}/{name}", entry, CONNECTION_FIELDS) for name, entry in given.items()}


def _require(entry: Mapping[str, object] | None, name: str, levels: Sequence[str]) -> Mapping[str, object]:
    """Return the fields of a level; raise InputError where they are missing."""
    if entry is None:
        # The first of bandwidths that halve from a level to the one around it.
        example = ",".join(f"{level}={50 / 2**k:g}GB/s" for k, level in enumerate(levels[:2]))
        what = f"expected the bandwidth between hosts by level out of {', '.join(levels)}, such as {example}"
        raise InputError(FIELD, f"{what}, as the network states none, got none for {name}")
    return entry


def _number_level(
    catalogue: Catalogue, name: str, entry: Mapping[str, object], measured_s: FloatArray
) -> IntArray | int:
    """Return the number of the connection of a level, or of each pair in it where the network states latencies."""
    field = f"{FIELD}/{name}"
    if "table" in entry or "latency" in entry:
        return catalogue.number(read_network(field, entry))
    given = read_network(field, {**entry, "latency": NETWORK_LATENCY_S})
    if isinstance(given, Affine) and measured_s.any():
        return _number_pairs(catalogue, np.full(len(measured_s), given.bandwidth), measured_s)
    return catalogue.number(given)


def _number_pairs(catalogue: Catalogue, bandwidth: FloatArray, latency_s: FloatArray) -> IntArray:
    """Return the number of the connection of every pair, by bandwidth and latency, of which the network states one."""
    if not bandwidth.size:
        return np.zeros(0, np.int64)
    different, which = np.unique(np.column_stack([bandwidth, latency_s]), axis=0, return_inverse=True)
    if len(different) > PAIR_LIMIT:
        what = f"expected at most {PAIR_LIMIT:,} different connections between hosts"
        raise InputError(HOSTS_FIELD, f"{what}, got {len(different):,}")
    # The worst of all has to be within the bounds of a connection.
    connection(HOSTS_FIELD, {"bandwidth": float(bandwidth.min()), "latency": float(latency_s.max())})
    numbers = [catalogue.number(Affine(rate, delay)) for rate, delay in different.tolist()]
    return np.array(numbers, np.int64)[which.reshape(-1)]
