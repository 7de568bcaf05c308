"""What of its host a node stands for: cores, a GPU and a network card, to which a launcher binds a rank."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple


class Package(NamedTuple):
    """Hold the number of a package (socket) of a host, and the number of the first of its cores."""

    number: int
    first: int


class Resources(NamedTuple):
    """Hold what a rank is bound to inside its host; what is not known, or not bound, is empty.

    `cores` count as hwloc does, from 0 through all packages (its logical numbers); `cpus` are the processors of these
    cores by the numbers of the operating system, and `package` has all of the cores. `gpu` counts by PCI bus id, and
    `nic` is the name of a network card, such as mlx5_0. `threads` are those that a rank has cores for.
    """

    cores: tuple[int, ...] = ()
    cpus: tuple[int, ...] = ()
    package: Package | None = None
    gpu: int | None = None
    nic: str | None = None
    threads: int | None = None


UNBOUND = Resources()


def join_cores(cores: Sequence[Resources]) -> Resources:
    """Return some cores together."""
    packages = {core.package for core in cores}
    return Resources(
        cores=tuple(chain.from_iterable(core.cores for core in cores)),
        cpus=tuple(chain.from_iterable(core.cpus for core in cores)),
        package=packages.pop() if len(packages) == 1 else None,
    )
