"""Descriptions of hardware, recognised by what they begin with."""

from collections.abc import Callable, Mapping, Sequence

from tiger.errors import InputError
from tiger.formats import nodelink
from tiger.formats.hardware import hosts, infiniband, instances, kubernetes, lstopo, nccltopo, nvidia, pingpong, rocm
from tiger.formats.hardware.levels import DescribedHardware
from tiger.formats.hardware.linked import LinkedHardware
from tiger.formats.hardware.units import UnitName
from tiger.formats.xmltext import Element, read_elements
from tiger.model.topology import Topology
from tiger.model.wording import describe

FIELD = "topology"


def read_xml(text: str, units: UnitName = "core") -> DescribedHardware:
    """Return the hardware that XML describes, by the tag of its root; raise InputError of `topology` with the line.

    `units` are those that are taken of a machine as lstopo writes it.
    """
    elements = read_elements(text, FIELD)
    if elements[0].tag == lstopo.ROOT:
        return lstopo.read_machine(elements, units)
    reader = _ROOTS.get(elements[0].tag)
    if reader is None:
        known = ", ".join(f"<{tag}>" for tag in (lstopo.ROOT, *_ROOTS))
        raise elements[0].error(FIELD, f"expected {known} around all, got {describe(elements[0].tag)}")
    return reader(elements)


def read_document(document: object) -> DescribedHardware:
    """Return the hardware that parsed JSON describes, by what it begins with; raise InputError of `topology`."""
    if kubernetes.is_list(document):
        return kubernetes.read_nodes(document)
    if instances.is_answer(document):
        return instances.read_instances(document)
    return LinkedHardware(nodelink.read_wiring(document), "node")


def read_printed(text: str) -> DescribedHardware | Topology:
    """Return the hardware that a command printed; raise InputError of `topology` with the line."""
    if rocm.is_matrix(text):
        return rocm.read_machine(text)
    if nvidia.is_matrix(text):
        return nvidia.read_machine(text)
    if infiniband.is_network(text):
        return infiniband.read_network(text)
    if pingpong.is_output(text):
        return pingpong.read_nodes(text)
    other = hosts.find_other(text)
    if other is None:
        return hosts.read_hosts(text)
    commands = "`nvidia-smi topo -m`, `rocm-smi --showtopo`, `ibnetdiscover`, `scontrol show topology`"
    prints = f"{commands} or a benchmark of pairs prints"
    what = f"expected hosts, one a line, or what {prints}"
    raise InputError(FIELD, f"line {other[0]}: {what}, got {describe(other[1])}")


_ROOTS: Mapping[str, Callable[[Sequence[Element]], DescribedHardware]] = {"system": nccltopo.read_machine}
