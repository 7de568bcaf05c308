"""The launchers that a rank order can be written for, by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from tiger.errors import InputError
from tiger.launchers import environment, machinefile, permutation, pods, rankfile, tables
from tiger.launchers.order import FIELD, RankOrder
from tiger.model.wording import describe

LauncherName = Literal[
    "openmpi",
    "prrte",
    "slurm",
    "mpich",
    "intel",
    "torchrun",
    "nccl",
    "kueue",
    "volcano",
    "permutation",
    "csv",
    "dot",
]
# Hosts with free slots that a sentence names before it counts the rest.
LISTED = 8


class Launcher(NamedTuple):
    """Hold how a rank order is written, and the command or the sentence that says what takes the text."""

    write: Callable[[RankOrder], str]
    use: Callable[[RankOrder], str]


LAUNCHERS: Mapping[LauncherName, Launcher] = MappingProxyType(
    {
        "openmpi": Launcher(rankfile.write, rankfile.describe_openmpi),
        "prrte": Launcher(rankfile.write, rankfile.describe_prrte),
        "slurm": Launcher(machinefile.write_slurm, machinefile.describe_slurm),
        "mpich": Launcher(machinefile.write_machines, machinefile.describe_mpich),
        "intel": Launcher(machinefile.write_machines, machinefile.describe_intel),
        "torchrun": Launcher(environment.write, environment.describe_torchrun),
        "nccl": Launcher(machinefile.write_rings, machinefile.describe_rings),
        "kueue": Launcher(pods.write_kueue, pods.describe_pods),
        "volcano": Launcher(pods.write_volcano, pods.describe_pods),
        "permutation": Launcher(permutation.write, permutation.describe_permutation),
        "csv": Launcher(tables.write_csv, tables.describe_csv),
        "dot": Launcher(tables.write_dot, tables.describe_dot),
    }
)


def find_launcher(name: str) -> Launcher:
    """Return a launcher by its name; raise InputError of `emit` for one that is not known."""
    for known in get_args(LauncherName):
        if known == name:
            return LAUNCHERS[known]
    raise InputError(FIELD, f"expected one of {', '.join(LAUNCHERS)}, got {describe(name)}")


def describe_use(name: str, order: RankOrder) -> str:
    """Return what takes the text of a launcher, and which slots are left free, a line each."""
    lines, free = [find_launcher(name).use(order)], order.free
    if order.stated and free:
        shown = ", ".join(f"{count} on {describe(host)}" for host, count in list(free.items())[:LISTED])
        more = f" and {len(free) - LISTED} more hosts" if len(free) > LISTED else ""
        lines.append(f"free slots: {sum(free.values())}, {shown}{more}")
    return "".join(f"{line}\n" for line in lines)
