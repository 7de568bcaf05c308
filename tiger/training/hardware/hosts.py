"""A cluster as a document of a description of its network, and of what is inside each host.

    {"hosts": {"file": "topology.conf", "text": "SwitchName=leaf0 Nodes=n[00-03] .."},
     "machine": {"devices": 8, "memory_bytes": 8e10, "bandwidth": 4.5e11},
     "networks": [{"bandwidth": 5e10, "latency": 5e-6}, {"bandwidth": 2.5e10, "latency": 8e-6}]}

`hosts` takes every description of hardware by which `tiger assign` knows a topology, with the name of its file, and
`labels` beside it those that make levels of the nodes of Kubernetes. `machine` has the fields of a node group, or is
what `insides.read_insides` takes besides. Two hosts are joined by one of the `networks`: one for each distance between
hosts, the nearest first, or one for each level by its name; a network that states bandwidths goes without them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray, lock
from tiger.model.text import FileText
from tiger.model.wording import describe
from tiger.training.hardware.cluster import DEVICE_LIMIT, Cluster, check_device_count
from tiger.training.hardware.connection import Catalogue
from tiger.training.hardware.host_connections import join_hosts
from tiger.training.hardware.insides import MACHINE, HostDevices, read_insides
from tiger.training.hardware.record import check_list, check_record, check_text, name_field, require

if TYPE_CHECKING:
    from tiger.formats.hardware.levels import DescribedHardware

HOSTS, LABELS = "hosts", "labels"
HOST_FIELDS = (HOSTS, MACHINE, "networks", LABELS)
# How readers of hardware call the fields.
_PARTS = {"topology": f"cluster/{HOSTS}", "labels": f"cluster/{LABELS}", "node_topology": f"cluster/{MACHINE}"}


def cluster_of_hosts(document: Mapping[str, object], max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the cluster of a described network; raise InputError for anything malformed; O(n^2)."""
    try:
        return _compose(document, max_devices)
    except InputError as error:
        raise name_field(error, _PARTS) from None


def _compose(document: Mapping[str, object], max_devices: int) -> Cluster:
    """Return the devices inside all hosts, linked by the machine within a host, and by the network between two."""
    # Other clusters are read without scipy, which this takes long to load.
    from tiger.formats.hardware.composition import find_insides

    fields = check_record("cluster", document, HOST_FIELDS)
    insides = read_insides(require("cluster", fields, MACHINE))
    hardware = _read_hosts(fields)
    nodes = hardware.topology({})
    if nodes.memory is not None:
        raise InputError(f"cluster/{HOSTS}", "expected memory stated inside the hosts alone, got it for the hosts")
    which = find_insides(nodes, [inside.hosts for inside in insides], nodes.names)
    sizes = np.array([len(inside.names) for inside in insides])[which]
    check_device_count(int(sizes.sum()), max_devices, f"cluster/{HOSTS}")
    catalogue = Catalogue()
    link = join_hosts(hardware, fields.get("networks"), catalogue).repeat(sizes, axis=0).repeat(sizes, axis=1)
    own = [_link_devices(inside, catalogue) for inside in insides]
    for begin, size, k in zip((np.cumsum(sizes) - sizes).tolist(), sizes.tolist(), which.tolist(), strict=True):
        link[begin : begin + size, begin : begin + size] = own[k]
    devices = [insides[k].devices for k in which]
    names = [nodes.names[host] for host in nodes.hosts]
    return Cluster(
        names=tuple(f"{name}.{unit}" for name, k in zip(names, which, strict=True) for unit in insides[k].names),
        kinds=tuple(kind for host in devices for kind in host.kinds),
        speed=np.concatenate([host.speed for host in devices]),
        types=tuple(each for host in devices for each in host.types),
        memory_bytes=np.concatenate([host.memory_bytes for host in devices]),
        machine=np.arange(len(names)).repeat(sizes),
        nics=np.concatenate([host.nics for host in devices]),
        reduces=np.concatenate([host.reduces for host in devices]),
        curves=tuple(catalogue.curves),
        link=lock(link),
        remarks=nodes.remarks,
    )


def _read_hosts(fields: Mapping[str, object]) -> "DescribedHardware":
    """Return the network between the hosts."""
    from tiger.formats.files import read_hardware

    field, value = f"cluster/{HOSTS}", require("cluster", fields, HOSTS)
    if isinstance(value, str):
        raise InputError(field, f"expected an object of file and text, got {describe(value)}")
    given = check_record(field, value, ("file", "text"))
    file, text = (check_text(f"{field}/{name}", require(field, given, name)) for name in ("file", "text"))
    labels = None
    if LABELS in fields:
        words = check_list(f"cluster/{LABELS}", fields[LABELS])
        labels = [check_text(f"cluster/{LABELS}/{k}", word) for k, word in enumerate(words)]
    return read_hardware(FileText(file, text), labels=labels)


def _link_devices(inside: HostDevices, catalogue: Catalogue) -> IntArray:
    """Return the numbers of the links between the devices of a machine."""
    numbers = np.array([*map(catalogue.number, inside.devices.curves), catalogue.number(None)])
    link: IntArray = numbers[inside.devices.link]
    return link
