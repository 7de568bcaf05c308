"""Links between GPUs of a machine."""

import numpy as np
import pytest

from tests.formats.hardware.test_nccltopo import BRIDGES
from tests.formats.hardware.test_nccltopo import SWITCHED as SWITCHED_XML
from tests.formats.hardware.test_nvidia import SWITCHED
from tiger.formats.hardware.description import read_printed, read_xml
from tiger.model.topology import LinkShare

SM = SWITCHED_XML.replace('dev="1"', 'dev="1" sm="60"').replace('dev="0"', 'dev="0" sm="100"')


def matrix(count, entry):
    """Return what nvidia-smi prints of so many GPUs, given the entry of two."""
    names = [f"GPU{k}" for k in range(count)]
    rows = ["\t".join([names[a], *("X" if a == b else entry(a, b) for b in range(count))]) for a in range(count)]
    return "\n".join(["\t".join(["", *names]), *rows])


def listed(hardware):
    """Return the links by what they join, with GB/s and length."""
    topology = hardware.topology({})
    ends, links = topology.link_ends, topology.links
    return [
        f"{ends[u]}-{ends[v]} {width:g} {length:.3g}"
        for u, v, width, length in zip(links.u, links.v, links.bandwidth, links.weight, strict=True)
    ]


def test_nvlinks_join_two_gpus():
    """Twelve carry 300 GB/s and are as long as one; nothing is known of PCIe then."""
    assert listed(read_printed(SWITCHED)) == ["gpu0-gpu1 300 1"]
    assert listed(read_printed("\tGPU0\nGPU0\t X \n")) == []


def test_more_nvlinks_than_a_gpu_has_are_those_to_switches():
    """Four GPUs with four to each other are a mesh, with eight they share a switch."""
    assert len(listed(read_printed(matrix(4, lambda a, b: "NV4")))) == 6
    assert listed(read_printed(matrix(4, lambda a, b: "NV8"))) == [f"gpu{k}-nvswitch0 200 0.5" for k in range(4)]


def test_bridges_are_a_tree():
    """GPUs on a PCIe switch share its link to the host bridge, which joins the other socket's."""
    kinds = {0: "PIX", 1: "PHB", 2: "SYS"}
    text = matrix(6, lambda a, b: kinds[(a // 2 != b // 2) + (a // 4 != b // 4)])
    assert listed(read_printed(text)) == [
        *(f"gpu{gpu}-pix{gpu // 2} 12 1.04" for gpu in range(6)),
        *("pix0-phb0 10 1.25", "pix1-phb0 10 1.25", "pix2-sys0 10 1.25", "phb0-sys0 10 1.25"),
    ]


def test_dumps_say_what_is_behind_what():
    """Two on a switch with a third one below it; the fourth is on the same socket and the fifth on another."""
    assert listed(read_xml(BRIDGES)) == [
        *("gpu0-pix0 12 1.04", "gpu1-pix0 12 1.04", "gpu2-pxb0 12 1.04", "pix0-pxb0 12 1.04"),
        *("gpu3-phb0 10 1.25", "pxb0-phb0 10 1.25", "gpu4-sys0 10 1.25", "phb0-sys0 10 1.25"),
    ]


@pytest.mark.parametrize(("text", "widths"), [(SWITCHED_XML, (300, 150)), (SM, (600, 120))])
def test_nvlinks_carry_what_their_version_does(text, widths):
    """That of the compute capability, and 25 GB/s where it is not stated."""
    to_switch = [f"gpu{k}-nvswitch0 {width} 0.5" for k, width in enumerate(widths)]
    assert listed(read_xml(text)) == [*to_switch, "gpu0-sys0 10 1.25", "gpu1-sys0 10 1.25"]


def test_distances_are_no_paths_over_links():
    """They stay those of the connections, and rise where a link that they lead over is in use."""
    text = matrix(4, lambda a, b: "NV1" if abs(a - b) in (1, 3) else "SYS")
    machine = read_printed(text).topology({})
    assert machine.metric.between(0, np.arange(4)).tolist() == [0, 1, 2.5, 1]
    busy = machine.shared([LinkShare("gpu0", "gpu1", 0.5)])
    assert busy.metric.between(0, np.arange(4)).tolist() == [0, 2, 2.5, 1]
