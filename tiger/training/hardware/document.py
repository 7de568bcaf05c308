"""A cluster as a document: its devices one by one, and the links between them.

    {"devices": [{"name": "a"}, {"name": "b", "kind": "cpu", "memory_bytes": 8e10, "speed": 0.5, "machine": "left"}],
     "uniform_bandwidth": 12e9, "uniform_latency": 5e-6,
     "links": [{"a": "a", "b": "b", "bandwidth": 5e10, "latency": 2e-6}], "nics": {"left": 1}}

Bytes per second and direction, seconds per message; links are symmetric and win over the uniform values, without which
pairs that are not listed have no link. A link may be a `wire` (true), beside which the others of a device carry as
much. `nics` are those of a machine by its name, which its devices share, and `in_switch_reduction` says by the name of
a machine that its switch adds up what devices send it: true, or the part of links that it reaches. `table` or
`uniform_table` may take the place of bandwidth and latency.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray, lock
from tiger.model.values import check_flag, read_name
from tiger.model.wording import describe
from tiger.training.hardware.cluster import DEVICE_LIMIT, Cluster, check_device_count
from tiger.training.hardware.connection import CONNECTION_FIELDS, Catalogue, connection
from tiger.training.hardware.device import (
    DEVICE_FIELDS,
    IN_SWITCH,
    NICS,
    DeviceType,
    check_count,
    device_type,
    read_share,
)
from tiger.training.hardware.record import check_list, check_names, check_record, require

UNIFORM = "uniform_"
_FIELDS = ("devices", *(f"{UNIFORM}{name}" for name in CONNECTION_FIELDS), "links", NICS, IN_SWITCH)
_DEVICE_FIELDS = ("name", *DEVICE_FIELDS, "machine")
_LINK_FIELDS = ("a", "b", *CONNECTION_FIELDS, "wire")


def cluster_of_devices(document: Mapping[str, object], max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the cluster that a document lists device by device; O(n^2 + links).

    Raises InputError for anything malformed. Devices that no link reaches are well-formed.
    """
    fields = check_record("cluster", document, _FIELDS)
    listed = check_list("cluster/devices", require("cluster", fields, "devices"))
    check_device_count(len(listed), max_devices)
    devices = [_device(f"cluster/devices/{k}", device) for k, device in enumerate(listed)]
    index = _index([device.name for device in devices])
    uniform = connection("cluster", fields, UNIFORM)
    if uniform is None and "links" not in fields and len(devices) > 1:
        raise InputError("cluster/links", "expected links or a uniform_bandwidth, got neither for several devices")
    labels = [device.machine for device in devices]
    nics = {
        machine: check_count(f"cluster/{NICS}/{machine}", count)
        for machine, count in check_names(f"cluster/{NICS}", fields.get(NICS, {})).items()
    }
    adding = {
        machine: read_share(f"cluster/{IN_SWITCH}/{machine}", share)
        for machine, share in check_names(f"cluster/{IN_SWITCH}", fields.get(IN_SWITCH, {})).items()
    }
    _check_machines({NICS: nics, IN_SWITCH: adding}, labels)
    catalogue = Catalogue()
    link = np.full((len(devices), len(devices)), catalogue.number(uniform), np.int64)
    np.fill_diagonal(link, -1)
    _fill(link, catalogue, index, check_list("cluster/links", fields.get("links", [])))
    return Cluster(
        names=tuple(index),
        kinds=tuple(device.type.kind for device in devices),
        speed=np.array([device.type.speed for device in devices]),
        types=tuple(device.type.accelerator for device in devices),
        memory_bytes=np.array([device.type.memory_bytes for device in devices]),
        machine=_machines(labels),
        nics=np.array([nics.get(label or "", 0) for label in labels]),
        reduces=np.array([adding.get(label or "", 0.0) for label in labels]),
        curves=tuple(catalogue.curves),
        link=lock(link),
    )


@dataclass(frozen=True, slots=True)
class _Device:
    """Hold a device of a document."""

    name: str
    type: DeviceType
    machine: str | None


def _device(field: str, value: object) -> _Device:
    """Return a device of a document."""
    fields = check_record(field, value, _DEVICE_FIELDS)
    name = read_name(f"{field}/name", require(field, fields, "name"))
    if not name.strip():
        raise InputError(f"{field}/name", "expected a name, got blank text")
    machine = read_name(f"{field}/machine", fields["machine"]) if "machine" in fields else None
    return _Device(name, device_type(field, fields), machine)


def _index(names: list[str]) -> dict[str, int]:
    """Return the position of every name, or raise InputError for one that comes twice."""
    index: dict[str, int] = {}
    for k, name in enumerate(names):
        if index.setdefault(name, k) < k:
            raise InputError(f"cluster/devices/{k}/name", f"expected different names, got {describe(name)} twice")
    return index


def _machines(labels: list[str | None]) -> IntArray:
    """Return the machine of every device, numbered from 0 as they come; one for all where none is stated."""
    without = labels.index(None) if None in labels else None
    if without is not None and any(label is not None for label in labels):
        raise InputError(f"cluster/devices/{without}/machine", "expected a machine for every device or for none")
    numbers: dict[str | None, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], np.int64)


def _check_machines(named: Mapping[str, Collection[str]], labels: list[str | None]) -> None:
    """Raise InputError for a machine that no device is on."""
    for name, machines in named.items():
        for machine in machines:
            if machine not in labels:
                raise InputError(f"cluster/{name}", f"expected machines of devices, got {describe(machine)}")


def _fill(link: IntArray, catalogue: Catalogue, index: Mapping[str, int], listed: list[object]) -> None:
    """Write listed links into the table of links."""
    given: dict[tuple[int, int], int] = {}
    for k, value in enumerate(listed):
        field = f"cluster/links/{k}"
        fields = check_record(field, value, _LINK_FIELDS)
        a, b = _end(field, fields, "a", index), _end(field, fields, "b", index)
        if a == b:
            raise InputError(f"{field}/b", f"expected another device than {describe(fields['a'])}, got the same")
        found = connection(field, fields)
        if found is None:
            raise InputError(f"{field}/bandwidth", "expected this field or table, got neither")
        if check_flag(f"{field}/wire", fields.get("wire", False)):
            found = replace(found, wire=True)
        number = catalogue.number(found)
        if given.setdefault((min(a, b), max(a, b)), number) != number:
            raise InputError(
                field, f"expected a link once, got {describe(fields['a'])} and {describe(fields['b'])} again"
            )
    ends = np.array(list(given), np.int64).reshape(-1, 2)
    link[ends[:, 0], ends[:, 1]] = link[ends[:, 1], ends[:, 0]] = list(given.values())


def _end(field: str, fields: Mapping[str, object], name: str, index: Mapping[str, int]) -> int:
    """Return the position of the device at an end of a link."""
    device = read_name(f"{field}/{name}", require(field, fields, name))
    if device not in index:
        raise InputError(f"{field}/{name}", f"expected the name of a device, got {describe(device)}")
    return index[device]
