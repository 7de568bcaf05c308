"""The GPUs of a machine as NCCL or RCCL dumps them (`NCCL_TOPO_DUMP_FILE=machine.xml`), versions 1 and 2 of the XML.

Sources: NCCL, src/graph/xml.cc and topo.cc, https://github.com/NVIDIA/nccl; RCCL, https://github.com/ROCm/rccl.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.gpulinks import NVLINK, GpuFabric
from tiger.formats.hardware.nearness import match_cards
from tiger.formats.hardware.nvidia import BANDWIDTHS, GPU_LIMIT, LANES, time_pairs
from tiger.formats.hardware.pairs import PairHardware
from tiger.formats.xmltext import Element
from tiger.model.arrays import IntArray
from tiger.model.resources import Resources
from tiger.model.text import read_wholes
from tiger.model.wording import describe

FIELD = "topology"
# The class of PCI devices (PCI Code and ID Assignment, bridges) that NVSwitches have.
SWITCH = "0x068000"
# Bytes per second and direction of an NVLink by compute capability (NVIDIA's whitepapers of P100, GA102 and Blackwell);
# those in between have versions 2 to 4.
NVLINK_5 = 100
RATES: Mapping[int, float] = {60: 20e9, 86: 14.0625e9, NVLINK_5: 50e9}
# The elements that join GPUs, by version: NVLinks, and Infinity Fabric of AMD's GPUs.
LINKS: Mapping[str, str] = {"1": "nvlink", "2": "xgmi"}
XGMI = "XGMI#"
# Bytes per second and direction of a link of Infinity Fabric, by the name of the processor from its front, `gfx` left
# out (AMD's whitepapers of CDNA to CDNA 4); older RCCL numbers gfx90a 910.
XGMI_RATES: Mapping[str, float] = {"90a": 50e9, "910": 50e9, "94": 64e9, "95": 76.8e9}
# Of processors before those: a link of an MI50 or MI60 has 92 GB/s in both directions together (AMD's data sheets).
XGMI_RATE = 46e9
# As many links as an entry of `nvidia-smi topo -m` may have.
LINK_LIMIT = 9999
# A word of a mask of processors.
_WORD = re.compile(r"[0-9a-fA-F]{1,8}")
_KINDS = {name: kind for kind, name in enumerate(BANDWIDTHS)}


class _Gpu(NamedTuple):
    """Hold a GPU by its number, with the positions of its element and of those around it, -1 where there is none."""

    number: int
    at: int
    bridge: int
    root: int
    cpu: int


def read_machine(elements: Sequence[Element]) -> PairHardware:
    """Return the GPUs of a machine, `gpu0`, `gpu1`, .. by `dev`, as far apart as a byte takes long between them.

    Two GPUs use the NVLinks between them, or as many as both have to switches, which reach all; otherwise one PCIe
    switch (PIX), several (PXB), the bridge of their NUMA node (PHB) or the link between sockets (SYS). Those of AMD use
    the links of Infinity Fabric (XGMI) between them, the slowest of which decides how far they are. Raises InputError
    of `topology` with the line.
    """
    root = elements[0]
    version = root.values.get("version", "")
    if version not in LINKS:
        raise root.error(FIELD, f"expected XML of NCCL, version 1, or of RCCL, version 2, got {describe(version)}")
    _check_host(elements)
    gpus = _find_gpus(elements)
    bridges = _find_bridges(gpus)
    direct, switched = _count_lanes(elements, gpus, LINKS[version])
    lanes = np.where(direct > 0, direct, np.minimum(switched[:, None], switched))
    np.fill_diagonal(lanes, 0)
    kind = np.where(lanes > 0, _KINDS[LANES], _find_kinds(bridges))
    read_rate = _read_rate if version == "1" else _read_xgmi_rate
    rate = np.array([read_rate(elements[gpu.at]) for gpu in gpus])
    fabric = GpuFabric(
        direct * np.minimum(rate[:, None], rate),
        switched * rate,
        np.zeros(len(gpus), np.int64),
        {name: (key, BANDWIDTHS[name]) for name, key in bridges.items()},
    )
    names = tuple(f"gpu{gpu.number}" for gpu in gpus)
    if version == "1":
        hardware = time_pairs(names, kind, lanes, fabric)
    else:
        others = {name: width for name, width in BANDWIDTHS.items() if name != LANES}
        hardware = time_pairs(names, kind, lanes, fabric, {XGMI: float(rate.min()), **others})
    return replace(hardware, resources=_find_resources(elements, gpus))


def _find_resources(elements: Sequence[Element], gpus: Sequence[_Gpu]) -> tuple[Resources, ...]:
    """Return every GPU with the processors of its NUMA node and the nearest network card."""
    cards = {at: each.values["name"] for at, each in enumerate(elements) if each.tag == "net" and "name" in each.values}
    nics = match_cards(elements, [gpu.at for gpu in gpus], cards)
    return tuple(
        Resources(cpus=_read_affinity(elements[gpu.cpu]) if gpu.cpu >= 0 else (), gpu=gpu.number, nic=nic)
        for gpu, nic in zip(gpus, nics, strict=True)
    )


def _read_affinity(cpu: Element) -> tuple[int, ...]:
    """Return the processors of a NUMA node, of a mask in words of 32 bits, nothing for another text."""
    words = cpu.values.get("affinity", "").split(",")
    if not all(_WORD.fullmatch(word) for word in words):
        return ()
    mask = int("".join(word.zfill(8) for word in words), 16)
    return tuple(k for k in range(mask.bit_length()) if mask >> k & 1)


def _check_host(elements: Sequence[Element]) -> None:
    """Raise InputError where NCCL has put the GPUs of several hosts into one file."""
    cpus = [element for element in elements if element.tag == "cpu"]
    for cpu in cpus:
        hashes = cpus[0].values.get("host_hash"), cpu.values.get("host_hash")
        if hashes[0] != hashes[1]:
            what = f"expected one host, as on line {cpus[0].line}, got another host_hash"
            raise cpu.error(FIELD, f"{what}: dump the topology of a job on one host")


def _find_gpus(elements: Sequence[Element]) -> list[_Gpu]:
    """Return all GPUs by number."""
    found = dict[int, _Gpu]()
    for at, element in enumerate(elements):
        if element.tag != "gpu":
            continue
        number = _read_number(element, "dev")
        if number in found:
            first = elements[found[number].at].line
            raise element.error(FIELD, f"dev: expected different numbers, got {number} on line {first} too")
        if len(found) == GPU_LIMIT:
            raise element.error(FIELD, f"expected at most {GPU_LIMIT:,} GPUs, got more")
        found[number] = _locate(elements, at, number)
    if not found:
        raise InputError(FIELD, "expected elements <gpu>, got none")
    return [found[number] for number in sorted(found)]


def _locate(elements: Sequence[Element], at: int, number: int) -> _Gpu:
    """Return a GPU with the PCIe switch right above its device, the outermost one, and its NUMA node."""
    device = elements[at].parent
    if device < 0 or elements[device].tag != "pci":
        raise elements[at].error(FIELD, "expected <gpu> inside the <pci> of its device, got none")
    above = elements[device].parent
    bridge = above if above >= 0 and elements[above].tag == "pci" else -1
    root = device
    while above >= 0 and elements[above].tag != "cpu":
        if elements[above].tag == "pci":
            root = above
        above = elements[above].parent
    return _Gpu(number, at, bridge, root, above)


def _find_bridges(gpus: Sequence[_Gpu]) -> dict[str, IntArray]:
    """Return the elements above every GPU, from its PCIe switch to the socket's links, by kind of connection."""
    return {
        "PIX": np.array([gpu.bridge for gpu in gpus]),
        "PXB": np.array([gpu.root for gpu in gpus]),
        "PHB": np.array([gpu.cpu for gpu in gpus]),
        "SYS": np.zeros(len(gpus), np.int64),
    }


def _find_kinds(bridges: Mapping[str, IntArray]) -> IntArray:
    """Return the kind of connection of each two GPUs without their NVLinks."""
    kind = np.full((len(bridges["SYS"]), len(bridges["SYS"])), _KINDS["SYS"])
    # From the farthest to the nearest, as what is nearer lies inside what is farther.
    for name, key in reversed(list(bridges.items())):
        kind[(key[:, None] == key) & (key >= 0)] = _KINDS[name]
    return kind


def _read_rate(gpu: Element) -> float:
    """Return the bandwidth of an NVLink of a GPU, by its compute capability, in bytes per second and direction."""
    sm = _read_number(gpu, "sm") if "sm" in gpu.values else 0
    return RATES.get(sm, NVLINK if sm < NVLINK_5 else RATES[NVLINK_5])


def _read_xgmi_rate(gpu: Element) -> float:
    """Return the bandwidth of a link of Infinity Fabric of a GPU, in bytes per second and direction."""
    processor = gpu.values.get("gcn", "").removeprefix("gfx")
    return next((rate for front, rate in XGMI_RATES.items() if processor.startswith(front)), XGMI_RATE)


def _count_lanes(elements: Sequence[Element], gpus: Sequence[_Gpu], tag: str) -> tuple[IntArray, IntArray]:
    """Return the links of a tag between each two GPUs, and those of every GPU to switches."""
    owner = {gpu.at: k for k, gpu in enumerate(gpus)}
    index = _index_buses(elements, gpus)
    direct, switched = np.zeros((len(gpus), len(gpus)), np.int64), np.zeros(len(gpus), np.int64)
    for link in elements:
        if link.tag != tag or link.parent not in owner:
            continue
        k, count = owner[link.parent], _read_number(link, "count")
        if count > LINK_LIMIT:
            raise link.error(FIELD, f"count: expected at most {LINK_LIMIT} links, got {count}")
        if link.values.get("tclass") == SWITCH:
            switched[k] += count
            continue
        # Other targets are processors, or GPUs that the job does not use.
        target = index.get(link.values.get("target", "").lower())
        if target is not None and target != k:
            direct[k, target] += count
    _check_symmetry(elements, gpus, direct)
    return direct, switched


def _index_buses(elements: Sequence[Element], gpus: Sequence[_Gpu]) -> dict[str, int]:
    """Return the GPU of every bus id."""
    index = dict[str, int]()
    for k, gpu in enumerate(gpus):
        device = elements[elements[gpu.at].parent]
        bus = device.values.get("busid", "").lower()
        if not bus or index.setdefault(bus, k) != k:
            raise device.error(FIELD, f"busid: expected one of its own for every GPU, got {describe(bus)}")
    return index


def _check_symmetry(elements: Sequence[Element], gpus: Sequence[_Gpu], direct: IntArray) -> None:
    """Raise InputError where two GPUs state different numbers of links to each other."""
    for a, b in np.argwhere(direct != direct.T)[:1].tolist():
        what = f"expected as many links to gpu{gpus[b].number} as it has to gpu{gpus[a].number}, {direct[b, a]}"
        raise elements[gpus[a].at].error(FIELD, f"{what}, got {direct[a, b]}")


def _read_number(element: Element, key: str) -> int:
    """Return an attribute that must be a whole number."""
    return int(read_wholes(FIELD, f"line {element.line}: {key}", [element.values.get(key, "")])[0])
