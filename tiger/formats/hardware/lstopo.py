"""The inside of a machine as hwloc's lstopo writes it (`lstopo machine.xml`), versions 2 and 3 of its XML.

Sources: hwloc, https://www.open-mpi.org/projects/hwloc/doc/, its hwloc2.dtd and hwloc/topology-xml.c; for what is a GPU
and in which order they count, the device mapping of PRRTE, https://github.com/openpmix/prrte.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.cpusets import read_set
from tiger.formats.hardware.levels import Level, LevelHardware
from tiger.formats.hardware.nearness import list_cores, match_cards, share_cores
from tiger.formats.hardware.units import UnitName
from tiger.formats.xmltext import Element
from tiger.model.resources import Resources, join_cores
from tiger.model.wording import LOCALHOST, describe

FIELD = "topology"
ROOT = "topology"
# Outermost first. Steps between units, not measurements: a core elsewhere under the same cache is 1 away, one beyond
# the cache or in another NUMA node of the socket 2, as they reach each other over the same fabric, and one in the other
# socket 4, where a message between caches takes about twice as long again. Devices are 1 apart below the same PCIe
# switch, and reach each other through the processor otherwise.
DISTANCES: Mapping[str, float] = {"socket": 4.0, "numa": 2.0, "l3": 2.0, "pci": 2.0}
_NEAREST = 1.0
_TYPES = {"Package": "socket", "L3Cache": "l3"}
_MEMORY = "NUMANode"
# A cache in front of memory, which is then inside it.
_MEMORY_CACHE = "MemCache"
# Names that hwloc gives to what the libraries of CUDA, NVML, ROCm SMI, Level Zero and OpenCL list.
_GPU = re.compile(r"(cuda|nvml|rsmi|ze|opencl[0-9]+d)[0-9]+")
# The driver's device for computing on a display adapter, which those of management controllers lack.
_RENDERER = re.compile(r"renderD[0-9]+")
# hwloc_obj_osdev_type_e of hwloc.h: a number in version 2, one bit of several in version 3.
_OPENFABRICS, _OPENFABRICS_BIT = "3", 1 << 5
_BITS = re.compile(r"[0-9]{1,9}")
_VERSION = re.compile(r"[23]\.[0-9]+")
_BUS = re.compile(r"([0-9a-f]+):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.ASCII)
# Class and vendor of a device, such as `0302 [10de:1db8]`.
_PCI = re.compile(r"([0-9a-f]{4}) \[([0-9a-f]{4}):", re.ASCII)
# Classes of PCI Code and ID Assignment: 3D controllers and processing accelerators; any display; any network card.
_COMPUTING, _DISPLAY, _NETWORK = ("0302", "1200"), "03", "02"
# NVIDIA and AMD, whose display adapters compute; management controllers have those of others.
_GPU_VENDORS = ("10de", "1002")
_NVLINKS = "NVLinks in the file play no part: `nvidia-smi topo -m` and NCCL's dump have them too, and count them"


def read_machine(elements: Sequence[Element], units: UnitName = "core") -> LevelHardware:
    """Return the cores of a machine, `core0`, `core1`, .. as hwloc counts them from 0 through all packages, or devices.

    Cores that the machine's `allowed_cpuset` leaves out do not count, with a remark. Devices are `gpu0`, `gpu1`, .. or
    `nic0`, .. in the order of their PCI bus ids, as nvidia-smi counts. Raises InputError of `topology` for XML of
    another version, and for a machine without such units.
    """
    root = elements[0]
    version = root.values.get("version", "1")
    if not _VERSION.fullmatch(version):
        raise root.error(FIELD, f"expected XML of hwloc 2 or 3, got version {describe(version)}")
    # Units of several cores are joined by whoever asks for them.
    kind = units if units in _FINDERS else "core"
    places = _FINDERS[kind](elements)
    at_cores = _find_cores(elements) if _list_cores(elements) else []
    cores = list_cores(elements, at_cores, _read_allowed(elements))
    near = cores if kind == "core" else _find_near(elements, kind, places, dict(zip(at_cores, cores, strict=True)))
    local = _find_local(elements)
    beside = "l3" if kind == "core" else "pci"
    groups = {name: np.zeros(len(places), np.int64) for name in ("socket", "numa", beside)}
    for unit, at in enumerate(places):
        for name, group in _find_groups(elements, at, local).items():
            if name in groups:
                groups[name][unit] = group
    levels = [Level(name, DISTANCES[name], group) for name, group in groups.items()]
    return LevelHardware(
        names=tuple(f"{kind}{k}" for k in range(len(places))),
        levels=(*levels, Level(kind, _NEAREST, np.arange(len(places)))),
        host=_find_host(elements),
        remarks=_remark(elements, kind, len(places)),
        cores=cores,
        resources=near,
    )


def _find_near(
    elements: Sequence[Element], kind: UnitName, places: Sequence[int], cores: Mapping[int, Resources]
) -> tuple[Resources, ...]:
    """Return devices with the cores near them, and GPUs with a network card."""
    devices = _list_devices(elements)
    cards = {at: _name(each) for at in devices for each in devices[at] if _is_fabric(elements[0], each)}
    shares = share_cores(elements, places, cores)
    nics = match_cards(elements, places, cards) if kind == "gpu" else [cards.get(at) for at in places]
    return tuple(
        join_cores(own)._replace(gpu=k if kind == "gpu" else None, nic=nic)
        for k, (own, nic) in enumerate(zip(shares, nics, strict=True))
    )


def _find_cores(elements: Sequence[Element]) -> list[int]:
    """Return the positions of all cores with a thread that may be used, as hwloc itself leaves others out."""
    cores = _list_cores(elements)
    if not cores:
        raise InputError(FIELD, "expected objects of type Core, got none")
    allowed = _read_allowed(elements)
    if allowed is None:
        return cores
    usable = [k for k in cores if "cpuset" not in elements[k].values or read_set(elements[k], "cpuset") & allowed]
    if not usable:
        raise _find_limited(elements)[0].error(FIELD, "allowed_cpuset: expected threads of a core, got none")
    return usable


def _read_allowed(elements: Sequence[Element]) -> int | None:
    """Return the set of threads that may be used as bits, None where nothing is said of that."""
    return next((read_set(machine, "allowed_cpuset") for machine in _find_limited(elements)), None)


def _find_limited(elements: Sequence[Element]) -> list[Element]:
    """Return the machine if it states what threads may be used."""
    return [each for each in elements if "allowed_cpuset" in each.values][:1]


def _list_cores(elements: Sequence[Element]) -> list[int]:
    """Return the positions of all cores."""
    return [k for k, element in enumerate(elements) if _type(element) == "Core"]


def _find_local(elements: Sequence[Element]) -> set[int]:
    """Return the positions of what memory is local to, of which it is a child, beside the cores or caches there."""
    local = set[int]()
    for element in elements:
        if _type(element) == _MEMORY:
            around = element.parent
            while _type(elements[around]) == _MEMORY_CACHE:
                around = elements[around].parent
            local.add(around)
    return local


def _find_gpus(elements: Sequence[Element]) -> list[int]:
    """Return the PCI devices that libraries of GPUs list; without any, those that can compute by class and driver."""
    devices = _list_devices(elements)
    listed = [at for at, systems in devices.items() if any(_GPU.fullmatch(_name(each)) for each in systems)]
    found = listed or [at for at, systems in devices.items() if _can_compute(elements[at], systems)]
    return _sort_by_bus(elements, found, "GPUs")


def _find_nics(elements: Sequence[Element]) -> list[int]:
    """Return the PCI devices with OpenFabrics (InfiniBand, RoCE, Slingshot); without any, all network cards."""
    devices = _list_devices(elements)
    fabric = [at for at, each in devices.items() if any(_is_fabric(elements[0], one) for one in each)]
    found = fabric or [at for at in devices if _identify(elements[at])[0].startswith(_NETWORK)]
    return _sort_by_bus(elements, found, "network cards")


def _is_fabric(root: Element, device: Element) -> bool:
    """Return whether a device is for OpenFabrics."""
    kind = device.values.get("osdev_type", "")
    if root.values.get("version", "").startswith("2."):
        return kind == _OPENFABRICS
    return bool(_BITS.fullmatch(kind)) and bool(int(kind) & _OPENFABRICS_BIT)


def _list_devices(elements: Sequence[Element]) -> dict[int, list[Element]]:
    """Return the positions of PCI devices, each with what the operating system has for it."""
    devices: dict[int, list[Element]] = {k: [] for k, element in enumerate(elements) if _type(element) == "PCIDev"}
    for element in elements:
        if _type(element) == "OSDev" and element.parent in devices:
            devices[element.parent].append(element)
    return devices


def _can_compute(device: Element, systems: Sequence[Element]) -> bool:
    """Return whether a PCI device that no library lists is a GPU."""
    kind, vendor = _identify(device)
    drives = vendor in _GPU_VENDORS or any(_RENDERER.fullmatch(_name(each)) for each in systems)
    return kind in _COMPUTING or (kind.startswith(_DISPLAY) and drives)


def _identify(device: Element) -> tuple[str, str]:
    """Return the class and the vendor of a PCI device, empty where they are not stated."""
    found = _PCI.match(device.values.get("pci_type", ""))
    return (found[1], found[2]) if found else ("", "")


def _sort_by_bus(elements: Sequence[Element], places: Sequence[int], what: str) -> list[int]:
    """Return the positions of devices by bus id; raise InputError where there are none, or one has no bus id."""
    if not places:
        raise InputError(FIELD, f"expected {what} among the objects of type PCIDev, got none")
    buses = dict[int, tuple[int, ...]]()
    for at in places:
        bus = elements[at].values.get("pci_busid", "")
        if not (found := _BUS.fullmatch(bus)):
            raise elements[at].error(FIELD, f"pci_busid: expected one such as 0000:3b:00.0, got {describe(bus)}")
        buses[at] = tuple(int(part, 16) for part in found.groups())
    return sorted(places, key=lambda at: buses[at])


def _type(element: Element) -> str | None:
    """Return the type of an object, None for other elements."""
    return element.values.get("type") if element.tag == "object" else None


def _name(element: Element) -> str:
    """Return the name of an object, empty without one."""
    return element.values.get("name", "")


def _find_groups(elements: Sequence[Element], unit: int, local: set[int]) -> dict[str, int]:
    """Return the position of the nearest object of every level around a unit, and of the PCIe port it is behind."""
    groups, at = {"pci": unit}, unit
    while at >= 0:
        name = _TYPES.get(_type(elements[at]) or "")
        if name is not None:
            groups.setdefault(name, at)
        if at in local:
            groups.setdefault("numa", at)
        # Of several bridges the outermost counts, the port of the processor: from PCI to PCI, not from the host.
        if elements[at].values.get("bridge_type") == "1-1":
            groups["pci"] = at
        at = elements[at].parent
    return groups


def _find_host(elements: Sequence[Element]) -> str:
    """Return the name of the machine."""
    named = (each.values.get("value") for each in elements if each.tag == "info" and _name(each) == "HostName")
    return next(named, None) or LOCALHOST


def _remark(elements: Sequence[Element], units: UnitName, count: int) -> tuple[str, ...]:
    """Return remarks on what plays no part: cores that may not be used, and NVLinks."""
    if units == "core":
        cores = len(_list_cores(elements))
        left = f"cores that allowed_cpuset leaves out are not used: {cores - count} of {cores}"
        return (left,) if count < cores else ()
    return (_NVLINKS,) if units == "gpu" and _has_nvlinks(elements) else ()


def _has_nvlinks(elements: Sequence[Element]) -> bool:
    """Return whether bandwidths of NVLinks are stated, as hwloc does from 2.5 on."""
    return any(each.tag.startswith("distances2") and _name(each) == "NVLinkBandwidth" for each in elements)


_FINDERS: Mapping[UnitName, Callable[[Sequence[Element]], list[int]]] = {
    "core": _find_cores,
    "gpu": _find_gpus,
    "nic": _find_nics,
}
