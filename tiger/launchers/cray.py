"""Rank orders of Cray MPICH, which renumbers the processes that a launcher has started host by host.

Sources: HPE Cray MPI, intro_mpi(3), MPICH_RANK_REORDER_METHOD and MPICH_RANK_REORDER_FILE; grid_order(1) of perftools,
https://cpe.ext.hpe.com/docs/latest/performance-tools/man1/grid_order.html. The file lists ranks in the order in which
they take the places of the hosts, separated by commas or lines, with comments behind `#`.
"""

import re
from itertools import groupby

from tiger.launchers.order import RankOrder, check_hosts
from tiger.launchers.shares import check_equal


def write(order: RankOrder) -> str:
    """Return a line for every host, in the order in which launchers fill them, with a comment and the ranks by slot.

    Raises InputError of `emit` where hosts have different numbers of ranks, as the launcher fills them equally.
    """
    check_hosts(order)
    check_equal(order, "Cray MPICH")
    lines = [
        f"# {host}\n{','.join(map(str, ranks))}\n"
        for host, ranks in groupby(order.launched, lambda rank: order.bindings[rank].host)
    ]
    return "".join(lines)


def describe_cray(order: RankOrder) -> str:
    """Return the command that takes the file, and a warning of hosts in another order than that of their names.

    srun takes the hosts of `--nodelist` in Slurm's own order.
    """
    hosts, ranks = len(order.counts), len(order.bindings)
    method = "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=FILE"
    sizes = f"--nodelist={','.join(order.counts)} --nodes={hosts} --ntasks={ranks} --ntasks-per-node={ranks // hosts}"
    command = f"{method} srun {sizes} --distribution=block PROGRAM"
    names = list(order.counts)
    if names == sorted(names, key=_split_numbers):
        return command
    return (
        f"{command}\nthis holds where Slurm has the hosts in this order (scontrol show hostnames), not by their names"
    )


def _split_numbers(host: str) -> list[tuple[int, str]]:
    """Return what hosts are sorted by as Slurm does, their numbers by value: n2 before n10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", host)]
