"""The inside of a machine as hwloc's lstopo writes it (`lstopo machine.xml`), version 2 of its XML.

Source: hwloc 2, https://www.open-mpi.org/projects/hwloc/doc/, and its hwloc2.dtd.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.levels import Level, LevelHardware
from tiger.formats.xmltext import Element
from tiger.model.wording import describe

FIELD = "topology"
# Outermost first. Steps between cores, not measurements: a core elsewhere under the same cache is 1 away, one beyond
# the cache or in another NUMA node of the socket 2, as they reach each other over the same fabric, and one in the other
# socket 4, where a message between caches takes about twice as long again.
DISTANCES: Mapping[str, float] = {"socket": 4.0, "numa": 2.0, "l3": 2.0, "core": 1.0}
_TYPES = {"Package": "socket", "L3Cache": "l3"}
_MEMORY = "NUMANode"


def read_machine(elements: Sequence[Element]) -> LevelHardware:
    """Return the cores of a machine, `core0`, `core1`, .. as hwloc counts them from 0 through all packages.

    Raises InputError of `topology` for XML of another version, and for a machine without cores.
    """
    root = elements[0]
    version = root.values.get("version", "1")
    if not version.startswith("2."):
        raise root.error(FIELD, f"expected XML of hwloc 2, got version {describe(version)}")
    cores = [k for k, element in enumerate(elements) if _type(element) == "Core"]
    if not cores:
        raise InputError(FIELD, "expected objects of type Core, got none")
    # Memory is a child of what it is local to, beside the cores or the caches around them.
    local = {element.parent for element in elements if _type(element) == _MEMORY}
    groups = {name: np.zeros(len(cores), np.int64) for name in DISTANCES}
    for core, at in enumerate(cores):
        for name, group in _find_groups(elements, at, local).items():
            groups[name][core] = group
    groups["core"] = np.arange(len(cores))
    levels = tuple(Level(name, distance, groups[name]) for name, distance in DISTANCES.items())
    return LevelHardware(names=tuple(f"core{k}" for k in range(len(cores))), levels=levels)


def _type(element: Element) -> str | None:
    """Return the type of an object, None for other elements."""
    return element.values.get("type") if element.tag == "object" else None


def _find_groups(elements: Sequence[Element], core: int, local: set[int]) -> dict[str, int]:
    """Return the position of the nearest object of every level around a core."""
    groups, at = dict[str, int](), core
    while at >= 0:
        name = _TYPES.get(_type(elements[at]) or "")
        if name is not None:
            groups.setdefault(name, at)
        if at in local:
            groups.setdefault("numa", at)
        at = elements[at].parent
    return groups
