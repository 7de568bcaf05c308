"""Clusters from what tools of NVIDIA and AMD say of a machine, the connection of each two GPUs.

That is the matrix that `nvidia-smi topo -m` prints, or the XML that NCCL or RCCL dumps (`NCCL_TOPO_DUMP_FILE`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware import rocm
from tiger.formats.hardware.gpulinks import NVLINK
from tiger.formats.hardware.nccltopo import XGMI, read_machine
from tiger.formats.hardware.nvidia import BANDWIDTHS, LANE_LIMIT, LANES, TopoMatrix, count_lanes, read_matrix
from tiger.formats.hardware.pairs import PairHardware
from tiger.formats.xmltext import read_elements
from tiger.model.arrays import lock
from tiger.training.hardware.cluster import DEVICE_LIMIT, NO_LINK, Cluster
from tiger.training.hardware.connection import CONNECTION_FIELDS, Affine, Catalogue, Connection, connection
from tiger.training.hardware.device import DEVICE_FIELDS, device_type
from tiger.training.hardware.record import check_record, check_text

TOPO, DUMP = "nvidia_smi_topo", "nccl_topo"
# What endings of files say that their text is.
PRINTED = {".txt": TOPO, ".topo": TOPO, ".ibnet": TOPO, ".xml": DUMP}
CLASSES = "classes"
# Seconds of a step over NVLink and over PCIe or between sockets, the figures of NCCL (tuning.cc).
LANE_LATENCY_S, PCI_LATENCY_S = 3.4e-6, 5.7e-6
RATES: Mapping[str, Affine] = {
    name: Affine(bandwidth, LANE_LATENCY_S if name == LANES else PCI_LATENCY_S)
    for name, bandwidth in BANDWIDTHS.items()
}
_FIELDS = (TOPO, DUMP, *DEVICE_FIELDS, CLASSES)


@dataclass(frozen=True, slots=True)
class TopoLinks:
    """Hold the names of the GPUs of a machine and the connection of each two, numbered from 0, the lower first.

    `nics` is the number of NICs that are known, 0 for none.
    """

    names: tuple[str, ...]
    links: Mapping[tuple[int, int], Connection]
    nics: int = 0


def cluster_of_topo(document: Mapping[str, object], max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the one machine of `{"nvidia_smi_topo": TEXT}` or `{"nccl_topo": TEXT}`.

    `kind`, `memory_bytes` and `speed` beside it hold for all GPUs, and `classes` may state other connections:
    `{"SYS": {"bandwidth": 16e9, "latency": 6e-6}, "NV#": ..}`, those of NV# for one lane.
    """
    fields = check_record("cluster", document, _FIELDS)
    device = device_type("cluster", fields)
    matrix = read_links("cluster", fields, max_devices)
    size, catalogue = len(matrix.names), Catalogue()
    link = np.full((size, size), NO_LINK, np.int64)
    for (a, b), joined in matrix.links.items():
        link[a, b] = link[b, a] = catalogue.number(joined)
    return Cluster(
        names=matrix.names,
        kinds=(device.kind,) * size,
        speed=np.full(size, device.speed),
        types=(device.accelerator,) * size,
        memory_bytes=np.full(size, device.memory_bytes),
        curves=tuple(catalogue.curves),
        link=lock(link),
        nics=np.full(size, matrix.nics),
    )


def read_links(field: str, fields: Mapping[str, object], max_devices: int = DEVICE_LIMIT) -> TopoLinks:
    """Return the connections in the fields `nvidia_smi_topo` or `nccl_topo`, and `classes`; O(n^2).

    Raises InputError that names the row and column, or line, of what is malformed or contradicts itself.
    """
    if TOPO in fields and DUMP in fields:
        raise InputError(f"{field}/{DUMP}", f"expected either this field or {TOPO}, got both")
    name = DUMP if DUMP in fields else TOPO
    text = check_text(f"{field}/{name}", fields.get(name))
    if rocm.is_matrix(text):
        what = "expected what `nvidia-smi topo -m` prints, or RCCL dumps (NCCL_TOPO_DUMP_FILE)"
        raise InputError(
            f"{field}/{name}", f"{what}, got what `rocm-smi --showtopo` prints, which states no bandwidths"
        )
    matrix = (_read_dump if name == DUMP else read_matrix)(f"{field}/{name}", text, max_devices)
    rates = _rates(f"{field}/{CLASSES}", fields.get(CLASSES, {}), matrix.lane)
    lanes = np.zeros(len(matrix.names), np.int64)
    for (a, b), entry in matrix.entries.items():
        lanes[[a, b]] += count_lanes(entry)
    # More NVLinks than a GPU has go through switches.
    wired = lanes <= LANE_LIMIT
    links = {
        (a, b): _entry_connection(rates, entry, wire=bool(wired[a] and wired[b]))
        for (a, b), entry in matrix.entries.items()
    }
    return TopoLinks(matrix.names, links, matrix.nics)


def _read_dump(field: str, text: str, max_devices: int) -> TopoMatrix:
    """Return the matrix that `nvidia-smi topo -m` would print for the XML of NCCL."""
    elements = read_elements(text, field)
    try:
        if elements[0].tag == "topology":
            what = "expected the GPUs of a machine, as NCCL dumps them or `nvidia-smi topo -m` prints them"
            raise InputError(field, f"{what}, got what lstopo writes, which states no devices, or none of their links")
        if elements[0].tag != "system":
            raise elements[0].error(field, f"expected <system>, as NCCL dumps it, got <{elements[0].tag}>")
        machine = read_machine(elements)
    except InputError as error:
        raise InputError(field, error.reason) from None
    if len(machine.names) > max_devices:
        raise InputError(field, f"expected 1 to {max_devices:,} devices, got {len(machine.names)}")
    kinds, lanes = list(BANDWIDTHS), np.rint(1 / machine.share).astype(np.int64)
    entries = {
        (a, b): f"NV{lanes[a, b]}" if kinds[machine.kind[a, b]] == LANES else kinds[machine.kind[a, b]]
        for a in range(len(machine.names))
        for b in range(a + 1, len(machine.names))
    }
    return TopoMatrix(tuple(name.upper() for name in machine.names), entries, lane=_find_lane(machine))


def _find_lane(machine: PairHardware) -> float:
    """Return what a link of Infinity Fabric carries, which stands where an NVLink does, by how much farther PCIe is."""
    distance = machine.distances.get(XGMI.removesuffix("#"))
    return NVLINK if distance is None else float(round(BANDWIDTHS["PIX"] * machine.distances["PIX"] / distance))


def _rates(field: str, value: object, lane: float) -> dict[str, Connection]:
    """Return the connection of every class: those stated, and the default of the others, with the rate of a lane."""
    rates: dict[str, Connection] = {**RATES, LANES: Affine(lane, LANE_LATENCY_S)}
    for name, entry in check_record(field, value, tuple(RATES)).items():
        given = connection(f"{field}/{name}", check_record(f"{field}/{name}", entry, CONNECTION_FIELDS))
        if given is None or (name == LANES and not isinstance(given, Affine)):
            raise InputError(f"{field}/{name}", "expected a bandwidth (or, but for NV#, a table), got none")
        rates[name] = given
    return rates


def _entry_connection(rates: Mapping[str, Connection], entry: str, *, wire: bool) -> Connection:
    """Return the connection of an entry: as many times the bandwidth of one lane as there are, which may be a wire."""
    lanes, lane = count_lanes(entry), rates[LANES]
    if not lanes or not isinstance(lane, Affine):
        return rates[entry]
    return Affine(lane.bandwidth * lanes, lane.latency_s, wire=wire)
