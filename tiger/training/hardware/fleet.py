"""Machines of several types and the networks between them, put together to one cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import IntArray, lock
from tiger.training.hardware.cluster import NO_LINK, Cluster, check_device_count
from tiger.training.hardware.connection import Catalogue, Connection
from tiger.training.hardware.device import DeviceType


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineType:
    """Hold `count` equal machines, each of `devices` devices of one type.

    `links` joins pairs of devices of a machine, numbered from 0; `inside` all its other pairs. `nic` is the network by
    which its devices reach those of other machines with the same, by `nics` ports (0: one for each device). `reduces`
    is the part of links to a switch inside that adds up what they send, 0 without one.
    """

    devices: int
    count: int = 1
    device: DeviceType = field(default_factory=DeviceType)
    inside: Connection | None = None
    links: Mapping[tuple[int, int], Connection] = field(default_factory=dict)
    nic: str | None = None
    nics: int = 0
    reduces: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Hold types of machines, networks by name, and which of those joins machines without one in common.

    Machines with the same NIC talk at its rate, others over the fallback, or not at all where there is none. Source:
    Yang et al., Holmes, arXiv:2312.03549.
    """

    machines: tuple[MachineType, ...]
    nics: Mapping[str, Connection] = field(default_factory=dict)
    fallback: str | None = None

    def cluster(self) -> Cluster:
        """Return the cluster, with devices named `m0.gpu0` or `m0.cpu0`, machines numbered as they come; O(n^2).

        Raises InputError for none or too many devices, before anything large is made.
        """
        check_device_count(sum(group.count * group.devices for group in self.machines))
        # One row a machine, in order; then one a device.
        types = np.repeat(np.arange(len(self.machines)), [group.count for group in self.machines])
        machine = np.repeat(np.arange(len(types)), [self.machines[t].devices for t in types])
        devices = [self.machines[t].device for t in types[machine]]
        catalogue = Catalogue()
        link = self._links(catalogue, types, machine)
        return Cluster(
            names=self._names(types),
            kinds=tuple(device.kind for device in devices),
            speed=np.array([device.speed for device in devices]),
            types=tuple(device.accelerator for device in devices),
            memory_bytes=np.array([device.memory_bytes for device in devices]),
            machine=machine,
            nics=np.array([self.machines[t].nics for t in types[machine]]),
            reduces=np.array([self.machines[t].reduces for t in types[machine]]),
            curves=tuple(catalogue.curves),
            link=link,
        )

    def _names(self, types: IntArray) -> tuple[str, ...]:
        """Return the names of all devices."""
        groups = [self.machines[t] for t in types]
        return tuple(name for m, group in enumerate(groups) for name in name_devices(f"m{m}", group))

    def _links(self, catalogue: Catalogue, types: IntArray, machine: IntArray) -> IntArray:
        """Return the table of links: between machines by their networks, then every machine's own."""
        used = [*dict.fromkeys(group.nic for group in self.machines)]
        fallback = catalogue.number(self.nics[self.fallback] if self.fallback is not None else None)
        numbers = np.array([fallback if nic is None else catalogue.number(self.nics[nic]) for nic in used])
        nic = np.array([used.index(group.nic) for group in self.machines])[types[machine]]
        link = np.where(nic[:, None] == nic, numbers[nic], fallback)
        own = [link_machine(catalogue, group) for group in self.machines]
        start = 0
        for t in types:
            end = start + self.machines[t].devices
            link[start:end, start:end] = own[t]
            start = end
        return lock(link)


def name_devices(machine: str, group: MachineType) -> tuple[str, ...]:
    """Return the names of the devices of a machine."""
    noun = {"accelerator": "gpu", "cpu": "cpu"}[group.device.kind]
    return tuple(f"{machine}.{noun}{k}" for k in range(group.devices))


def link_machine(catalogue: Catalogue, group: MachineType) -> IntArray:
    """Return the table of links of one machine."""
    link = np.full((group.devices, group.devices), catalogue.number(group.inside), np.int64)
    for (a, b), connection in group.links.items():
        link[a, b] = link[b, a] = catalogue.number(connection)
    np.fill_diagonal(link, NO_LINK)
    return link
