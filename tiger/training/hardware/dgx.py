"""NVIDIA's machines, by the SPEC of a cluster, such as `dgx:n`: DGX of V100, A100, H100, H200 and B200, and NVL72."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tiger.errors import InputError
from tiger.formats.hardware.nvidia import LANES
from tiger.model.units import GIGABYTE
from tiger.model.wording import describe
from tiger.training.hardware.cluster import DEVICE_LIMIT, Cluster, check_device_count
from tiger.training.hardware.connection import Affine
from tiger.training.hardware.device import DeviceType
from tiger.training.hardware.fleet import Fleet, MachineType
from tiger.training.hardware.nvidia import RATES

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
    """Describe a machine: the `syntax` of its SPEC, a sentence for users, its devices and links, and its network."""

    syntax: str
    description: str
    machine: MachineType
    network: Affine


def _lanes(count: int) -> Affine:
    """Return the connection of bonded NVLinks."""
    return replace(RATES[LANES], bandwidth=RATES[LANES].bandwidth * count)


def _make_switched(name: str, title: str, gpus: int, memory_gb: int, rates_gb: tuple[int, int]) -> MachineKind:
    """Return machines whose GPUs are all linked through NVSwitch, with a port of the network for each."""
    inside, between = rates_gb
    held = f"{gpus} GPUs of {memory_gb} GB, {inside} GB/s within and {between} GB/s between machines"
    return MachineKind(
        syntax=f"{name}:n",
        description=f"n {title} machines of {held}",
        machine=MachineType(
            devices=gpus,
            device=DeviceType(memory_bytes=memory_gb * GIGABYTE),
            inside=replace(RATES[LANES], bandwidth=inside * GIGABYTE),
        ),
        network=Affine(between * GIGABYTE, NETWORK_LATENCY_S),
    )


KINDS: Mapping[str, MachineKind] = {
    # NVIDIA DGX H100 datasheet: 18 NVLinks a GPU through NVSwitch, 8 ports of 400 Gb/s.
    "dgx": _make_switched("dgx", "DGX H100", GPUS, 80, (450, 50)),
    "dgx-h100": _make_switched("dgx-h100", "DGX H100", GPUS, 80, (450, 50)),
    # NVIDIA DGX H200 datasheet: as before, with 1,128 GB in all.
    "dgx-h200": _make_switched("dgx-h200", "DGX H200", GPUS, 141, (450, 50)),
    # NVIDIA DGX B200 datasheet: 1,440 GB in all, 14.4 TB/s of NVLink in both directions, 8 ports of 400 Gb/s.
    "dgx-b200": _make_switched("dgx-b200", "DGX B200", GPUS, 180, (900, 50)),
    # NVIDIA GB200 NVL72 datasheet: 72 GPUs with 13.4 TB in all and 130 TB/s of NVLink in both directions; a port of 400
    # Gb/s for each in NVIDIA's reference design.
    "gb200-nvl72": _make_switched("gb200-nvl72", "GB200 NVL72", 72, 186, (900, 50)),
    # NVIDIA DGX A100 datasheet: 12 NVLinks a GPU through NVSwitch, 8 ports of 200 Gb/s.
    "dgx-a100": _make_switched("dgx-a100", "DGX A100", GPUS, 80, (300, 25)),
    # Four ports of 100 Gb/s, each shared by two GPUs.
    "dgx-1v": MachineKind(
        syntax="dgx-1v:n",
        description="n DGX-1 machines of 8 V100 of 32 GB: 25 or 50 GB/s by NVLink, 10 GB/s without, 12.5 GB/s between",
        machine=MachineType(
            devices=GPUS,
            device=DeviceType(memory_bytes=32e9),
            inside=RATES["SYS"],
            links={pair: _lanes(count) for pair, count in DGX_1V_LANES.items()},
        ),
        network=Affine(12.5e9, NETWORK_LATENCY_S),
    ),
}


def cluster_of_spec(spec: str, max_devices: int = DEVICE_LIMIT) -> Cluster:
    """Return the cluster that a SPEC such as `dgx:4` describes; raise InputError of `cluster` for another text."""
    name, _, number = spec.partition(":")
    known = ", ".join(kind.syntax for kind in KINDS.values())
    # Ten digits are beyond any limit, and quick to read.
    if name not in KINDS or not (number.isascii() and number.isdigit() and len(number) <= 10):
        raise InputError("cluster", f"expected one of {known} (such as dgx:4), got {describe(spec)}")
    kind, count = KINDS[name], int(number)
    check_device_count(count * kind.machine.devices, max_devices, "cluster")
    machine = replace(kind.machine, count=count, nic="network")
    return Fleet(machines=(machine,), nics={"network": kind.network}).cluster()
