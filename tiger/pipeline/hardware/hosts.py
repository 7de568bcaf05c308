"""A cluster as a document of a description of its network, and of what is inside each host.

    {"hosts": {"file": "topology.conf", "text": "SwitchName=leaf0 Nodes=n[00-03] .."},
     "machine": {"devices": 8, "memory_bytes": 8e10, "bandwidth": 4.5e11},
     "networks": [{"bandwidth": 5e10, "latency": 5e-6}, {"bandwidth": 2.5e10, "latency": 8e-6}]}

`hosts` takes every description of hardware by which `tiger assign` knows a topology, with the name of its file, and
`machine` the fields of a node group. Two hosts are joined by one of the `networks`: one for each distance between
hosts, the nearest first.
"""

from collections.abc import Mapping

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, lock
from tiger.model.wording import describe
from tiger.pipeline.hardware.cluster import DEVICE_LIMIT, Cluster, check_device_count
from tiger.pipeline.hardware.connection import Catalogue
from tiger.pipeline.hardware.fleet import link_machine, name_devices
from tiger.pipeline.hardware.machines import INSIDE_FIELDS, read_network, read_type
from tiger.pipeline.hardware.record import check_list, check_record, check_text, require

HOSTS, MACHINE = "hosts", "machine"
_FIELDS = (HOSTS, MACHINE, "networks")


def cluster_of_hosts(document: Mapping[str, object], max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the cluster of a described network; raise InputError for anything malformed; O(n^2)."""
    fields = check_record("cluster", document, _FIELDS)
    inside = f"cluster/{MACHINE}"
    stated = check_record(inside, require("cluster", fields, MACHINE), INSIDE_FIELDS)
    machine = read_type(inside, stated, {})
    names, away = _read_hosts(require("cluster", fields, HOSTS), max_devices // machine.devices)
    listed = check_list("cluster/networks", require("cluster", fields, "networks"))
    steps = np.unique(away[np.isfinite(away) & ~np.eye(len(names), dtype=bool)])
    if len(listed) != len(steps):
        distances = ", ".join(f"{step:g}" for step in steps[:8].tolist()) + (", .." if len(steps) > 8 else "")
        what = f"expected one for each of {len(steps)} distances between hosts ({distances or 'none'})"
        raise InputError("cluster/networks", f"{what}, got {len(listed)}")
    catalogue = Catalogue()
    networks = [catalogue.number(read_network(f"cluster/networks/{k}", entry)) for k, entry in enumerate(listed)]
    numbers = np.array([*networks, catalogue.number(None)])
    # Those who cannot reach each other are farther apart than any.
    between = numbers[np.searchsorted(steps, away)]
    link = between.repeat(machine.devices, axis=0).repeat(machine.devices, axis=1)
    own = link_machine(catalogue, machine)
    for start in range(0, len(link), machine.devices):
        link[start : start + machine.devices, start : start + machine.devices] = own
    size = len(link)
    return Cluster(
        names=tuple(device for name in names for device in name_devices(name, machine)),
        kinds=(machine.device.kind,) * size,
        speed=np.full(size, machine.device.speed),
        memory_bytes=np.full(size, machine.device.memory_bytes),
        machine=np.arange(len(names)).repeat(machine.devices),
        curves=tuple(catalogue.curves),
        link=lock(link),
    )


def _read_hosts(value: object, most: int) -> tuple[tuple[str, ...], FloatArray]:
    """Return the names of at most so many hosts, and the larger distance of each two."""
    # Other clusters are read without scipy, which this takes long to load.
    from tiger.formats.files import HardwareText, read_hardware

    field = f"cluster/{HOSTS}"
    if isinstance(value, str):
        raise InputError(field, f"expected an object of file and text, got {describe(value)}")
    fields = check_record(field, value, ("file", "text"))
    file, text = (check_text(f"{field}/{name}", require(field, fields, name)) for name in ("file", "text"))
    try:
        topology = read_hardware(HardwareText(file, text)).topology({})
    except InputError as error:
        raise InputError(error.field.replace("topology", field, 1), error.reason) from None
    hosts = topology.hosts
    check_device_count(hosts.size, most, field)
    away = topology.metric.between(hosts[:, None], hosts[None, :])
    return tuple(topology.names[host] for host in hosts), np.maximum(away, away.T)
