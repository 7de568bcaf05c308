"""Hierarchies whose nodes are the leaves: trees of any fan-outs, and clusters of DGX machines."""

from tiger.model.metrics import TreeMetric
from tiger.model.topology import Topology
from tiger.topologies.coordinates import check_extents, coordinate_names

# GPUs of a machine, and time per byte inside it and to another one; `dgx` says where they are from.
DGX_GPUS = 8
DGX_DISTANCES = (1.0, 9.0)


def tree(fanouts: tuple[int, ...], distances: tuple[float, ...]) -> Topology:
    """Build the leaves of a tree, fan-outs outermost first, distances innermost first; only distances, no links."""
    check_extents(fanouts)
    return Topology(names=coordinate_names(fanouts), metric=TreeMetric(fanouts, distances))


def dgx(machines: int) -> Topology:
    """Build machines of 8 H100 GPUs, named `machine,gpu`; distance is time per byte relative to that inside a machine.

    Inside, NVSwitch joins all GPUs at 450 GB/s per GPU and direction (18 NVLink 4 links, 900 GB/s both ways together);
    between machines every GPU has a 400 Gb/s network port, 50 GB/s: 9 times as long. Source: NVIDIA DGX H100 datasheet.
    """
    return tree((machines, DGX_GPUS), DGX_DISTANCES)
