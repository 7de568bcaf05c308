"""The links between GPUs of a machine: NVLinks, their switches, and a tree of PCIe switches, bridges and sockets."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.units import GIGABYTE

if TYPE_CHECKING:
    from tiger.model.topology import Links

# Bytes per second and direction of an NVLink, versions 2 to 4 (NVIDIA's whitepapers of V100, A100 and H100).
NVLINK = 25e9


class GpuFabric(NamedTuple):
    """Hold what joins n GPUs, in bytes per second and direction.

    `direct[n, n]` are the NVLinks between two, `switched[n]` those of a GPU to the switch numbered `switch[n]`, 0 for
    none. `bridges` has, from the inside out, the number of what is above every GPU, -1 for nothing, and what its links
    carry.
    """

    direct: FloatArray
    switched: FloatArray
    switch: IntArray
    bridges: Mapping[str, tuple[IntArray, float]]


class _Join(NamedTuple):
    """Hold a link between ends `a` and `b`, its length and its bandwidth in GB/s."""

    a: int
    b: int
    length: float
    bandwidth: float


def join_gpus(fabric: GpuFabric) -> "tuple[Links, tuple[str, ...]]":
    """Return the links, in GB/s, and the switches that they end at too: `nvswitch0`, `pix0`, `phb0`, `sys0` and so on.

    A link is as long as a byte takes over it, an NVLink being 1 long, and one to a switch half of that. Bonded NVLinks
    are no shorter than one, so that routes take the NVLinks of two GPUs first, then those over a third one, then PCIe,
    as NCCL does.
    """
    from tiger.model.topology import Links

    joins = [
        _Join(a, b, 1.0, fabric.direct[a, b] / GIGABYTE) for a, b in np.argwhere(np.triu(fabric.direct, 1) > 0).tolist()
    ]
    names, count = list[str](), len(fabric.switched)
    for number, switch in enumerate(np.unique(fabric.switch[fabric.switched > 0]).tolist()):
        members = np.flatnonzero((fabric.switch == switch) & (fabric.switched > 0)).tolist()
        joins += [_Join(gpu, count + len(names), 0.5, fabric.switched[gpu] / GIGABYTE) for gpu in members]
        names.append(f"nvswitch{number}")
    above = np.arange(count)
    for name, (group, width) in fabric.bridges.items():
        number = 0
        for bridge in np.unique(group[group >= 0]).tolist():
            below = np.unique(above[group == bridge]).tolist()
            # What has a single thing below it joins nothing.
            if len(below) > 1:
                joins += [_Join(end, count + len(names), NVLINK / width / 2, width / GIGABYTE) for end in below]
                above[group == bridge] = count + len(names)
                names.append(f"{name.lower()}{number}")
                number += 1
    ends = np.array([join[:2] for join in joins], np.int64).reshape(-1, 2)
    sizes = np.array([join[2:] for join in joins], np.float64).reshape(-1, 2)
    return Links(u=ends[:, 0], v=ends[:, 1], weight=sizes[:, 0], bandwidth=sizes[:, 1]), tuple(names)
