"""The launchers that a rank order can be written for, by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from tiger.errors import InputError
from tiger.launchers import (
    cray,
    environment,
    machinefile,
    nodes,
    pbs,
    permutation,
    pods,
    rankfile,
    shares,
    tables,
    wrapper,
)
from tiger.launchers.binding import describe_binding
from tiger.launchers.order import FIELD, LaunchNodes, RankOrder, order_ranks
from tiger.model.options import about
from tiger.model.spelling import Spelling
from tiger.model.wording import describe

LauncherName = Literal[
    "openmpi",
    "prrte",
    "slurm",
    "flux",
    "pbs",
    "mpich",
    "intel",
    "cray",
    "torchrun",
    "nccl",
    "kueue",
    "volcano",
    "hypernode",
    "jobset",
    "permutation",
    "wrapper",
    "csv",
    "dot",
]
# Hosts with free slots that a sentence names before it counts the rest.
LISTED = 8


@dataclass(frozen=True, kw_only=True)
class EmitOptions:
    """Say for which launcher the order of ranks is written."""

    emit: LauncherName | None = field(
        default=None,
        metadata=about(
            "Launcher that the order of tasks as ranks is written for, in the field `emitted`.",
            Spelling(
                f"Print the order alone, as this launcher takes it: {', '.join(get_args(LauncherName))}.",
                panel="Output",
                metavar="LAUNCHER",
            ),
        ),
    )


class Launcher(NamedTuple):
    """Hold how a rank order is written, the command or the sentence that says what takes the text, and a file's name.

    `check` refuses a number of ranks of which no order can be written on the hosts of another, or on the most of them
    that may get ranks, if there is any. A launcher that is `contiguous` needs the ranks of a host to be consecutive.
    """

    write: Callable[[RankOrder], str]
    use: Callable[[RankOrder], str]
    file: str
    check: Callable[[int, RankOrder, int | None], None] | None = None
    contiguous: bool = False


def _share_by(launcher: str) -> Callable[[int, RankOrder, int | None], None]:
    """Return the check of a launcher whose hosts share the ranks equally."""

    def check(ranks: int, order: RankOrder, most: int | None) -> None:
        shares.check_shares(ranks, order, launcher, most)

    return check


LAUNCHERS: Mapping[LauncherName, Launcher] = MappingProxyType(
    {
        "openmpi": Launcher(rankfile.write, rankfile.describe_openmpi, "openmpi-rankfile.txt"),
        "prrte": Launcher(rankfile.write, rankfile.describe_prrte, "prrte-rankfile.txt"),
        "slurm": Launcher(machinefile.write_hosts, machinefile.describe_slurm, "slurm-hosts.txt"),
        "flux": Launcher(machinefile.write_hosts, machinefile.describe_flux, "flux-hosts.txt"),
        "pbs": Launcher(pbs.write, pbs.describe_pbs, "pbs-select.txt", contiguous=True),
        "mpich": Launcher(
            machinefile.write_machines, machinefile.describe_mpich, "mpich-machines.txt", contiguous=True
        ),
        "intel": Launcher(machinefile.write_machines, machinefile.describe_intel, "intel-machines.txt"),
        "cray": Launcher(cray.write, cray.describe_cray, "cray-rank-order.txt", _share_by("Cray MPICH")),
        "torchrun": Launcher(environment.write, environment.describe_torchrun, "torchrun.txt", _share_by("torchrun")),
        "nccl": Launcher(machinefile.write_rings, machinefile.describe_rings, "nccl-hosts.txt"),
        "kueue": Launcher(pods.write_kueue, pods.describe_kueue, "kueue-patches.json"),
        "volcano": Launcher(pods.write_volcano, pods.describe_volcano, "volcano-patches.json"),
        "hypernode": Launcher(nodes.write_hypernode, nodes.describe_hypernode, "volcano-hypernode.yaml"),
        "jobset": Launcher(
            nodes.write_jobset, nodes.describe_jobset, "jobset-nodes.json", _share_by("JobSet"), contiguous=True
        ),
        "permutation": Launcher(permutation.write, permutation.describe_permutation, "permutation.txt"),
        "wrapper": Launcher(wrapper.write, wrapper.describe_wrapper, "rank-wrapper.sh"),
        "csv": Launcher(tables.write_csv, tables.describe_csv, "ranks.csv"),
        "dot": Launcher(tables.write_dot, tables.describe_dot, "ranks.dot"),
    }
)


def find_launcher(name: str) -> Launcher:
    """Return a launcher by its name; raise InputError of `emit` for one that is not known."""
    for known in get_args(LauncherName):
        if known == name:
            return LAUNCHERS[known]
    raise InputError(FIELD, f"expected one of {', '.join(LAUNCHERS)}, got {describe(name)}")


def check_fit(name: str, ranks: int, nodes: LaunchNodes, most: int | None = None) -> None:
    """Raise InputError of `emit`, before anything is solved, where a launcher takes no order of that many ranks.

    `most` limits the hosts that get ranks.
    """
    launcher = find_launcher(name)
    for first in list(nodes.slots)[:1]:
        order = order_ranks({"0": first}, nodes)
        launcher.write(order)
        if launcher.check is not None:
            launcher.check(ranks, order, most)


def describe_use(name: str, order: RankOrder) -> str:
    """Return the command that takes the text of a launcher with its binding, and the slots left free, a line each."""
    lines, free = [describe_command(name, order)], order.free
    if order.slots_given and free:
        shown = ", ".join(f"{count} on {describe(host)}" for host, count in list(free.items())[:LISTED])
        more = f" and {len(free) - LISTED} more hosts" if len(free) > LISTED else ""
        lines.append(f"free slots: {sum(free.values())}, {shown}{more}")
    return "".join(f"{line}\n" for line in lines)


def describe_command(name: str, order: RankOrder) -> str:
    """Return the command that takes the text of a launcher, with what it says of cores and threads or cannot say."""
    text, command = describe_binding(name, order), find_launcher(name).use(order)
    options = "".join(f"{option} " for option in text.options)
    whole = " ".join([*text.variables, command.replace("PROGRAM", f"{options}PROGRAM", 1)])
    return whole if text.remark is None else f"{whole}\n{text.remark}"
