"""A cluster as a document of node groups: machines that are alike, and the networks between them.

    {"machines": [{"count": 2, "devices": 8, "memory_bytes": 8e10, "bandwidth": 4.5e11, "latency": 3.4e-6, "nic": "ib"},
                  {"devices": 4, "memory_bytes": 3.2e10, "speed": 0.4, "bandwidth": 12e9, "nic": "roce",
                   "lanes": [[0, 1, 2], [2, 3, 2]], "lane_bandwidth": 25e9}],
     "nics": {"ib": {"bandwidth": 5e10, "latency": 14e-6}, "roce": {"bandwidth": 25e9}, "ethernet": {"bandwidth": 3e9}},
     "fallback": "ethernet"}

Bytes per second, direction and device; seconds per message. `lanes` counts the NVLinks of pairs of devices within a
machine, wires between two devices; its other pairs use `bandwidth` and `latency` (or `table`), and have no link
without. `nvidia_smi_topo`, the text of `nvidia-smi topo -m`, or `nccl_topo`, the XML of `NCCL_TOPO_DUMP_FILE`, may take
the place of `devices`, `lanes` and the bandwidth. Two machines with the same `nic` use that network, others the
`fallback`; without one they have no link. A machine has a NIC for each device, or as many as its `nics` say, which the
devices that send at once share; with `in_switch_reduction` its switch adds up what devices send it, true or the part
of links that it reaches.
"""

from collections.abc import Mapping

from tiger.errors import InputError
from tiger.model.values import check_whole, read_name
from tiger.model.wording import describe
from tiger.training.hardware.cluster import DEVICE_LIMIT, Cluster, check_device_count
from tiger.training.hardware.connection import CONNECTION_FIELDS, Affine, Connection, connection
from tiger.training.hardware.device import DEVICE_FIELDS, IN_SWITCH, NICS, check_count, device_type, read_share
from tiger.training.hardware.fleet import Fleet, MachineType
from tiger.training.hardware.nvidia import CLASSES, DUMP, TOPO, TopoLinks, read_links
from tiger.training.hardware.record import check_list, check_names, check_record, require

_FIELDS = ("machines", "nics", "fallback")
_LANE = "lane_"
_LANE_FIELDS = ("lanes", f"{_LANE}bandwidth", f"{_LANE}latency")
_OWN_FIELDS = ("devices", *CONNECTION_FIELDS, *_LANE_FIELDS)
INSIDE_FIELDS = (*DEVICE_FIELDS, *_OWN_FIELDS, TOPO, DUMP, CLASSES, NICS, IN_SWITCH)
_MACHINE_FIELDS = ("count", *INSIDE_FIELDS, "nic")


def cluster_of_machines(document: Mapping[str, object], max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the cluster of a document of node groups; raise InputError for anything malformed."""
    fields = check_record("cluster", document, _FIELDS)
    nics = {
        name: read_network(f"cluster/nics/{name}", nic)
        for name, nic in check_names("cluster/nics", fields.get("nics", {})).items()
    }
    groups = check_list("cluster/machines", require("cluster", fields, "machines"))
    machines = tuple(read_type(f"cluster/machines/{k}", group, nics) for k, group in enumerate(groups))
    check_device_count(sum(group.count * group.devices for group in machines), max_devices, "cluster/machines")
    if sum(group.count for group in machines) > 1 and not nics:
        raise InputError("cluster/nics", "expected a network between several machines, got none")
    fallback = _nic("cluster/fallback", fields["fallback"], nics) if "fallback" in fields else None
    return Fleet(machines=machines, nics=nics, fallback=fallback).cluster()


def read_network(field: str, value: object) -> Connection:
    """Return the connection of a network."""
    given = connection(field, check_record(field, value, CONNECTION_FIELDS))
    if given is None:
        raise InputError(f"{field}/bandwidth", "expected this field or table, got neither")
    return given


def _nic(field: str, value: object, nics: Mapping[str, Connection]) -> str:
    """Return the name of a network or raise InputError."""
    name = read_name(field, value)
    if name not in nics:
        known = ", ".join(map(describe, nics))[:200] or "none"
        raise InputError(field, f"expected the name of one of the nics ({known}), got {describe(name)}")
    return name


def read_type(field: str, value: object, nics: Mapping[str, Connection]) -> MachineType:
    """Return a node group."""
    fields = check_record(field, value, _MACHINE_FIELDS)
    topo = _read_topo(field, fields) if {TOPO, DUMP} & fields.keys() else None
    devices, inside, links = _own_devices(field, fields) if topo is None else (len(topo.names), None, topo.links)
    ports = 0 if topo is None else topo.nics
    return MachineType(
        count=check_count(f"{field}/count", fields.get("count", 1)),
        devices=devices,
        device=device_type(field, fields),
        inside=inside,
        links=links,
        nics=check_count(f"{field}/{NICS}", fields[NICS]) if NICS in fields else ports,
        reduces=read_share(f"{field}/{IN_SWITCH}", fields.get(IN_SWITCH, False)),
        nic=_nic(f"{field}/nic", fields["nic"], nics) if "nic" in fields else None,
    )


Inside = tuple[int, Connection | None, Mapping[tuple[int, int], Connection]]


def _own_devices(field: str, fields: Mapping[str, object]) -> Inside:
    """Return the devices of a machine, the connection of most of its pairs, and that of some."""
    if CLASSES in fields:
        raise InputError(f"{field}/{CLASSES}", f"expected this field beside {TOPO} or {DUMP} alone")
    devices = check_count(f"{field}/devices", require(field, fields, "devices"))
    inside = connection(field, fields)
    if inside is None and devices > 1 and "lanes" not in fields:
        raise InputError(f"{field}/bandwidth", "expected this field, table or lanes for several devices, got none")
    lane = connection(field, fields, _LANE)
    if isinstance(lane, Affine) and "lanes" in fields:
        return devices, inside, _lanes(f"{field}/lanes", fields["lanes"], devices, lane)
    if "lanes" in fields or lane is not None:
        raise InputError(f"{field}/lanes", f"expected lanes and {_LANE}bandwidth together, got one of them")
    return devices, inside, {}


def _read_topo(field: str, fields: Mapping[str, object]) -> TopoLinks:
    """Return the devices and connections of the text of `nvidia-smi topo -m` or of NCCL."""
    also = next((name for name in _OWN_FIELDS if name in fields), None)
    if also is not None:
        text = DUMP if DUMP in fields else TOPO
        raise InputError(f"{field}/{also}", f"expected either this field or {text}, got both")
    return read_links(field, fields)


def _lanes(field: str, value: object, devices: int, lane: Affine) -> dict[tuple[int, int], Connection]:
    """Return the connection of every pair with lanes, which carry as many times the bandwidth of one."""
    links: dict[tuple[int, int], Connection] = {}
    for k, row in enumerate(check_list(field, value)):
        numbers = [check_whole(f"{field}/{k}", number) for number in check_list(f"{field}/{k}", row)]
        if len(numbers) != 3 or numbers[0] == numbers[1] or max(numbers[:2]) >= devices or not numbers[2]:
            raise InputError(f"{field}/{k}", f"expected two devices below {devices} and a number of lanes, got others")
        a, b, count = numbers
        pair = min(a, b), max(a, b)
        if pair in links:
            raise InputError(f"{field}/{k}", f"expected every pair once, got {a} and {b} again")
        links[pair] = Affine(lane.bandwidth * count, lane.latency_s, wire=True)
    return links
