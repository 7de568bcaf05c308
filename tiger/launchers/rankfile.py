"""Rank files of Open MPI: a line for every rank with its host and the core that it is bound to.

Sources: mpirun(1) of Open MPI 4.1, section Rankfiles, https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php; for version
5, which hands over to PRRTE, https://docs.open-mpi.org/en/v5.0.x/man-openmpi/man1/mpirun.1.html. Both count cores of a
host as hwloc does, from 0 through all packages. The lines are the same, and the options that name the file are not.
"""

from tiger.errors import InputError
from tiger.launchers.order import FIELD, RankBinding, RankOrder, check_hosts
from tiger.model.wording import describe

# Units that are no cores, whatever their slots.
DEVICES = ("gpu", "nic")


def write(order: RankOrder) -> str:
    """Return `rank R=HOST slot=CORE` for every rank: the core it is mapped to, else the slot of a stated number.

    Raises InputError of `emit` where neither cores nor slots are known, and for GPUs and network cards.
    """
    check_hosts(order)
    return "".join(
        f"rank {rank}={binding.host} slot={_core(order, binding)}\n" for rank, binding in enumerate(order.bindings)
    )


def _core(order: RankOrder, binding: RankBinding) -> int:
    """Return the core of a binding, as which slots of a stated number count."""
    core = binding.number("core")
    if core is not None:
        return core
    where = describe(binding.host if binding.unit is None else f"{binding.host}/{binding.unit}")
    if any(binding.number(device) is not None for device in DEVICES):
        what = "expected cores or hosts for a rank file, which binds ranks to cores"
        raise InputError(FIELD, f"{what}, got {where}; torchrun takes GPUs, csv and permutation any units")
    if not order.slots_given:
        what = "expected cores in the hardware (HOST/core5) or a stated number of slots (--slots) for a rank file"
        raise InputError(FIELD, f"{what}, got {where} without either")
    return binding.slot


def describe_openmpi(order: RankOrder) -> str:
    """Return the command of version 4 that takes the file."""
    return f"mpirun --rankfile FILE -n {len(order.bindings)} PROGRAM"


def describe_prrte(order: RankOrder) -> str:
    """Return the command of version 5 that takes the file."""
    return f"mpirun --map-by rankfile:file=FILE -n {len(order.bindings)} PROGRAM"
