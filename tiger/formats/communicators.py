"""Communicators of a program whose processes state each who they are in it and what they send."""

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.tasks import TaskGraph
from tiger.model.wording import describe

FIELD = "tasks"


@dataclass(frozen=True, slots=True)
class Communicator:
    """Hold the device of every rank that has stated it, how many ranks there are, and the line that says so."""

    size: int
    line: int
    devices: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Communicators:
    """Collect communicators by what names them in all processes, and the volumes that their ranks send."""

    numbers: dict[Hashable, int] = field(default_factory=dict)
    known: list[Communicator] = field(default_factory=list)
    sent: dict[tuple[int, int, int], float] = field(default_factory=dict)

    def join(self, name: Hashable, size: int, rank: int, device: str, line: int) -> int:
        """Make a device a rank of a communicator and return the number of that one, or raise InputError of `tasks`."""
        number = self.numbers.setdefault(name, len(self.known))
        if number == len(self.known):
            self.known.append(Communicator(size, line))
        found = self.known[number]
        if size != found.size or not 0 <= rank < size:
            what = f"expected a rank of the {found.size} that line {found.line} states"
            raise InputError(FIELD, f"line {line}: {what}, got {rank} of {size}")
        other = found.devices.setdefault(rank, device)
        if other != device:
            raise InputError(
                FIELD, f"line {line}: expected rank {rank} once, got it of {describe(other)} and of {describe(device)}"
            )
        return number

    def send(self, number: int, rank: int, target: int, volume: float) -> None:
        """Add a volume that one rank of a communicator sends another one."""
        ends = number, rank, target
        self.sent[ends] = self.sent.get(ends, 0.0) + volume

    def make_graph(self) -> TaskGraph:
        """Return the task graph of all devices, named and ordered as ranks of the first communicator that has them all.

        Raises InputError of `tasks` where ranks have not stated anything, and where no communicator has all devices.
        """
        for one in self.known:
            if len(one.devices) < one.size:
                missing = next(rank for rank in range(one.size) if rank not in one.devices)
                what = f"expected the logs of all {one.size} ranks, got none of rank {missing}"
                raise InputError(FIELD, f"line {one.line}: {what}")
        devices = {device for one in self.known for device in one.devices.values()}
        worlds = [one for one in self.known if one.size == len(devices) == len(set(one.devices.values()))]
        if not worlds:
            what = f"expected a communicator of all {len(devices)} devices, whose ranks these are"
            raise InputError(FIELD, f"{what}, got {len(self.known)} of some")
        ranks = {device: rank for rank, device in worlds[0].devices.items()}
        ends = [
            (ranks[self.known[number].devices[rank]], ranks[self.known[number].devices[target]])
            for number, rank, target in self.sent
        ]
        rows, columns = np.array(ends, np.int32).reshape(-1, 2).T
        volumes = np.array(list(self.sent.values()), np.float64)
        traffic = sp.csr_array((volumes, (rows, columns)), shape=(len(ranks), len(ranks)))
        return TaskGraph(names=tuple(map(str, range(len(ranks)))), traffic=traffic)
