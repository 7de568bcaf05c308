"""Clusters by a SPEC: machines by name, `dgx:4`, or several kinds of them, `dgx-h100:2+l40s:2x4@200Gb/s`."""

import re
from dataclasses import replace
from typing import cast

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.training.hardware.cluster import DEVICE_LIMIT, Cluster, check_device_count
from tiger.training.hardware.connection import Affine, connection
from tiger.training.hardware.fleet import Fleet, MachineType
from tiger.training.hardware.kinds import KINDS, NETWORK_LATENCY_S
from tiger.training.hardware.record import name_field

# Numbers of ten digits are beyond any limit, and quick to read.
_PART = re.compile(r"(?P<name>[^:]*):(?P<count>[0-9]{1,10})(x(?P<devices>[0-9]{1,10}))?(,nics=(?P<nics>[0-9]{1,10}))?")
_SPEC = re.compile(r"[A-Za-z][A-Za-z0-9-]*:[^/\\@]*(@[^/\\]*(/s)?)?")
FIELD = "cluster"
BETWEEN = "between"


def is_spec(source: object) -> bool:
    """Return whether a cluster is given by a SPEC, well-formed or not, and not by a file."""
    return isinstance(source, str) and (_SPEC.fullmatch(source) is not None or source in KINDS)


def cluster_of_spec(spec: str, max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the cluster that a SPEC describes; raise InputError of `cluster` for another text.

    `NAME:n` are n machines of a kind, `NAME:nxg` such with g devices each, and `,nics=k` behind it says that they share
    k ports of the network. Kinds are joined by `+`; machines of two kinds talk at the rate behind `@`, or at that of
    the slowest of all their networks. Machines of one kind alone talk at the rate behind `@`, too.
    """
    listed, at, rate = spec.partition("@")
    parts = [_read_part(part) for part in listed.split("+")]
    check_device_count(sum(machine.count * machine.devices for machine, _ in parts), max_devices, FIELD)
    nics = {str(machine.nic): network for machine, network in parts}
    machines = tuple(machine for machine, _ in parts)
    if len(nics) == 1:
        known = {name: _read_rate(rate) if at else network for name, network in nics.items()}
        return Fleet(machines=machines, nics=known).cluster()
    between = _read_rate(rate) if at else min(nics.values(), key=lambda network: network.bandwidth)
    return Fleet(machines=machines, nics={**nics, BETWEEN: between}, fallback=BETWEEN).cluster()


def _read_part(text: str) -> tuple[MachineType, Affine]:
    """Return the machines of a part of a SPEC, and their network."""
    match = _PART.fullmatch(text)
    kind = None if match is None else KINDS.get(match["name"])
    if match is None or kind is None:
        what = f"expected NAME:n with one of {', '.join(KINDS)} (such as dgx:4)"
        raise InputError(FIELD, f"{what}, got {describe(text)}")
    devices = int(match["devices"] or kind.machine.devices)
    most = DEVICE_LIMIT if kind.open_ended else kind.machine.devices
    if not 1 <= devices <= most:
        raise InputError(FIELD, f"expected 1 to {most:,} devices in each {kind.name}, got {describe(text)}")
    if match["nics"] is not None and not int(match["nics"]):
        raise InputError(FIELD, f"expected at least one NIC in each {kind.name}, got {describe(text)}")
    links = {pair: link for pair, link in kind.machine.links.items() if max(pair) < devices}
    nics = int(match["nics"] or kind.machine.nics)
    # Cut, so that products stay exact: beyond the limit in any case.
    count = min(int(match["count"]), DEVICE_LIMIT + 1)
    machine = replace(kind.machine, count=count, devices=devices, links=links, nics=min(nics, devices), nic=kind.name)
    return machine, kind.network


def _read_rate(text: str) -> Affine:
    """Return the network of a rate such as 200Gb/s."""
    if not text.strip():
        raise InputError(FIELD, "expected a bandwidth such as 200Gb/s behind @, got none")
    try:
        given = connection(FIELD, {"bandwidth": text, "latency": NETWORK_LATENCY_S})
    except InputError as error:
        raise name_field(error, {f"{FIELD}/bandwidth": FIELD}) from None
    return cast(Affine, given)
