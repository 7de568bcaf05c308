"""Machines that a cluster's SPEC knows by name: their devices, what is between these, and their network.

A speed is the dense peak in 16 bits over that of an H100, as their vendors state it, so that times of an H100 become
those of a machine's devices.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from tiger.formats.hardware.nvidia import LANES
from tiger.model.units import GIGABYTE
from tiger.training.hardware.accelerators import ACCELERATORS
from tiger.training.hardware.connection import Affine
from tiger.training.hardware.device import IN_SWITCH_SHARE, DeviceType
from tiger.training.hardware.fleet import MachineType
from tiger.training.hardware.nvidia import LANE_LATENCY_S, PCI_LATENCY_S, RATES

# Of Blackwell's links, what GPUs reach through a switch that adds up (NCCL 2.28, src/graph/tuning.cc).
BLACKWELL_SHARE = 0.74
# What NCCL counts on of all NVLinks of a GPU (NCCL 2.28, src/graph/topo.h), in GB/s: 12 of 20, 18 of 20.6, and 18 of
# 40.1, where 25, 25 and 50 are on paper.
AMPERE_GB, HOPPER_GB, BLACKWELL_GB = 240, 370.8, 721.8
# GPUs of a DGX.
GPUS = 8
# The latency of NCCL for a message over the network (src/graph/tuning.cc), in seconds.
NETWORK_LATENCY_S = 14e-6
# NVLinks between the V100s of a DGX-1 (NVIDIA DGX-1 with Tesla V100 System Architecture, WP-08437-002): six for each,
# on a hybrid of two fully linked squares and the four edges between them.
DGX_1V_LANES = {
    (0, 1): 1, (0, 2): 1, (0, 3): 2, (1, 2): 2, (1, 3): 1, (2, 3): 2,
    (4, 5): 1, (4, 6): 1, (4, 7): 2, (5, 6): 2, (5, 7): 1, (6, 7): 2,
    (0, 4): 2, (1, 5): 2, (2, 6): 1, (3, 7): 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineKind:
    """Describe a machine: its `name` in a SPEC, its devices and links, and its network.

    `open_ended` ones have as many devices as their SPEC says, others no more than `machine` has.
    """

    name: str
    machine: MachineType
    network: Affine
    open_ended: bool = False


def _make_device(name: str) -> DeviceType:
    """Return the device of a name."""
    known = ACCELERATORS[name]
    return DeviceType(memory_bytes=known.memory_bytes, speed=known.speed, accelerator=known)


def _make_switched(
    name: str, gpus: int, device: DeviceType, rates_gb: tuple[float, float], *, reduces: float = IN_SWITCH_SHARE
) -> MachineKind:
    """Return machines whose GPUs are all linked through NVSwitch, with a port of the network for each.

    Switches of Hopper and later add up what GPUs send them (NVLink SHARP).
    """
    inside, between = rates_gb
    joined = replace(RATES[LANES], bandwidth=inside * GIGABYTE)
    return MachineKind(
        name=name,
        machine=MachineType(devices=gpus, device=device, inside=joined, reduces=reduces),
        network=Affine(between * GIGABYTE, NETWORK_LATENCY_S),
    )


def _make_plain(name: str, gpus: int, device: DeviceType, pci_gb: float, ports: tuple[int, float]) -> MachineKind:
    """Return machines whose devices talk over PCIe, with some ports of a network that they share."""
    count, rate = ports
    joined = Affine(pci_gb * GIGABYTE, PCI_LATENCY_S)
    return MachineKind(
        name=name,
        machine=MachineType(devices=gpus, device=device, inside=joined, nics=count),
        network=Affine(rate * GIGABYTE, NETWORK_LATENCY_S),
        open_ended=True,
    )


_H100 = _make_device("h100")
_KINDS = (
    # NVIDIA DGX H100 datasheet: 18 NVLinks a GPU through NVSwitch, 8 ports of 400 Gb/s.
    _make_switched("dgx", GPUS, _H100, (HOPPER_GB, 50)),
    _make_switched("dgx-h100", GPUS, _H100, (HOPPER_GB, 50)),
    # NVIDIA DGX H200 datasheet: as before, with 1,128 GB in all.
    _make_switched("dgx-h200", GPUS, _make_device("h200"), (HOPPER_GB, 50)),
    # NVIDIA DGX B200 datasheet: 1,440 GB in all, 14.4 TB/s of NVLink in both directions, 8 ports of 400 Gb/s; HGX B200:
    # 36 PFLOP/s with sparsity in 16 bits.
    _make_switched("dgx-b200", GPUS, _make_device("b200"), (BLACKWELL_GB, 50), reduces=BLACKWELL_SHARE),
    # NVIDIA GB200 NVL72 datasheet: 72 GPUs with 13.4 TB in all, 130 TB/s of NVLink in both directions and 360 PFLOP/s
    # with sparsity; a port of 400 Gb/s for each in NVIDIA's reference design.
    _make_switched("gb200-nvl72", 72, _make_device("gb200"), (BLACKWELL_GB, 50), reduces=BLACKWELL_SHARE),
    # NVIDIA DGX A100 datasheet: 12 NVLinks a GPU through NVSwitch, 8 ports of 200 Gb/s.
    _make_switched("dgx-a100", GPUS, _make_device("a100"), (AMPERE_GB, 25), reduces=0.0),
    # As above; four ports of 100 Gb/s, each beside two GPUs.
    MachineKind(
        name="dgx-1v",
        machine=MachineType(
            devices=GPUS,
            device=_make_device("v100"),
            inside=RATES["SYS"],
            links={
                pair: replace(RATES[LANES], bandwidth=RATES[LANES].bandwidth * count, wire=True)
                for pair, count in DGX_1V_LANES.items()
            },
            nics=4,
        ),
        network=Affine(12.5 * GIGABYTE, NETWORK_LATENCY_S),
    ),
    # AMD Instinct MI300X and its platform's data sheets: seven links of 128 GB/s in both directions to the other seven,
    # 1,307 TFLOP/s dense; a port of 400 Gb/s for each in AMD's reference design.
    MachineKind(
        name="mi300x",
        machine=MachineType(
            devices=GPUS,
            device=_make_device("mi300x"),
            links={pair: Affine(64 * GIGABYTE, LANE_LATENCY_S, wire=True) for pair in combinations(range(GPUS), 2)},
        ),
        network=Affine(50 * GIGABYTE, NETWORK_LATENCY_S),
    ),
    # NVIDIA L40S datasheet: 733 TFLOP/s with sparsity, PCIe 4.0 x16; NVIDIA's enterprise reference design 2-8-5-200 has
    # eight of them and 200 Gb/s for each, by four ports.
    _make_plain("l40s", GPUS, _make_device("l40s"), 32, (4, 50)),
    # NVIDIA L4 datasheet: 242 TFLOP/s with sparsity, PCIe 4.0 x16; eight of them and 100 Gb/s are AWS g6.48xlarge.
    _make_plain("l4", GPUS, _make_device("l4"), 32, (1, 12.5)),
    # NVIDIA's Ada, Blackwell and Ampere GA102 whitepapers, dense in 16 bits added up in 32 (of the 3060 by its 112
    # tensor cores); PCIe 4.0, 5.0 and 4.0 x16; and Ethernet of 10 Gb/s, as workstations have.
    _make_plain("rtx4090", 1, _make_device("rtx4090"), 32, (1, 1.25)),
    _make_plain("rtx5090", 1, _make_device("rtx5090"), 64, (1, 1.25)),
    _make_plain("rtx3060", 1, _make_device("rtx3060"), 32, (1, 1.25)),
    # Apple's press releases of March 2022 and June 2023: 21 and 27.2 TFLOP/s, 128 and 192 GB, Thunderbolt 4.
    _make_plain("m1-ultra", 1, _make_device("m1-ultra"), 5, (1, 5)),
    _make_plain("m2-ultra", 1, _make_device("m2-ultra"), 5, (1, 5)),
)
KINDS: Mapping[str, MachineKind] = {kind.name: kind for kind in _KINDS}
