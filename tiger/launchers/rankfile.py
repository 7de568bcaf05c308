"""Rank files of Open MPI: a line for every rank with its host and the core that it is bound to.

Sources: mpirun(1) of Open MPI 4.1, section Rankfiles, https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php; for version
5, which hands over to PRRTE, https://docs.open-mpi.org/en/v5.0.x/man-openmpi/man1/mpirun.1.html. Both count cores of a
host as hwloc does, from 0 through all packages. The lines are the same, and the options that name the file are not.
"""

from collections import Counter

from tiger.errors import InputError
from tiger.launchers.binding import write_numbers
from tiger.launchers.order import FIELD, RankBinding, RankOrder, check_hosts
from tiger.model.wording import describe

# Units that are no cores, whatever their slots.
DEVICES = ("gpu", "nic")


def write(order: RankOrder) -> str:
    """Return `rank R=HOST slot=CORES` for every rank: the cores it is mapped to, else the slot of a stated number.

    Several cores of one package count from its first: `slot=1:0-3`. Raises InputError of `emit` where neither cores nor
    slots are known, and for GPUs and network cards without cores near them.
    """
    check_hosts(order)
    lines = [f"{binding.host} slot={_write_cores(order, binding)}\n" for binding in order.bindings]
    return "".join(f"rank {rank}={line}" for rank, line in enumerate(lines))


def _write_cores(order: RankOrder, binding: RankBinding) -> str:
    """Return the cores of a binding, as which slots of a stated number count."""
    if len(binding.cores) > 1 and binding.bound.package is not None:
        number, first = binding.bound.package
        return f"{number}:{write_numbers([core - first for core in binding.cores])}"
    if binding.cores:
        return write_numbers(binding.cores)
    where = describe(binding.host if binding.unit is None else f"{binding.host}/{binding.unit}")
    if any(binding.number(device) is not None for device in DEVICES):
        what = "expected cores or hosts for a rank file, which binds ranks to cores"
        raise InputError(FIELD, f"{what}, got {where}; torchrun takes GPUs, csv and permutation any units")
    if not order.slots_given:
        what = "expected cores in the hardware (HOST/core5) or a stated number of slots (--slots) for a rank file"
        raise InputError(FIELD, f"{what}, got {where} without either")
    return str(binding.slot)


def describe_openmpi(order: RankOrder) -> str:
    """Return the command of version 4 that takes the file."""
    return f"mpirun --rankfile FILE -n {len(order.bindings)} PROGRAM"


def describe_prrte(order: RankOrder) -> str:
    """Return the command of version 5 that takes the file.

    PRRTE knows no hosts outside an allocation but those it is told of, and binds several ranks to one core only where
    that is allowed.
    """
    cores = Counter((binding.host, core) for binding in order.bindings for core in binding.cores)
    shared = " --bind-to core:overload-allowed" if max(cores.values(), default=1) > 1 else ""
    size = len(order.bindings)
    return f"mpirun --host {order.shares} --map-by rankfile:file=FILE{shared} -n {size} PROGRAM"
