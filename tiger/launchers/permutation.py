"""The permutation that makes a rank order of the one in which processes have been started.

It needs no launcher's help: processes are started host by host, as all launchers do unless told otherwise, and a
communicator in the new order comes from `MPI_Comm_split` with the new rank as the key (MPI 4.1, section 7.4.2). The
programs that do that match processes and lines by the names of hosts, as launchers may start hosts in another order:
mpirun of Open MPI 4.1 begins with the host that it runs on.
"""

from tiger.launchers.order import RankOrder, is_host
from tiger.model.wording import LOCALHOST


def write(order: RankOrder) -> str:
    """Return `RANK HOST`, the new rank of a process and its host, in the order in which processes are to be started.

    Ranks alone, which count by the numbers of processes, where a node is no host that has a name.
    """
    names = _has_names(order)
    return "".join(f"{rank} {order.bindings[rank].host}\n" if names else f"{rank}\n" for rank in order.launched)


def describe_permutation(order: RankOrder) -> str:
    """Return the command of Open MPI that starts processes host by host; where hosts have no names, without these."""
    where = f"--host {order.shares} " if _has_names(order) else ""
    level = "slot" if any(binding.number("core") is None for binding in order.bindings) else "core"
    return f"mpirun {where}--map-by {level} -n {len(order.bindings)} python examples/reorder.py FILE"


def _has_names(order: RankOrder) -> bool:
    """Return whether all hosts have names that processes can find themselves by."""
    return LOCALHOST not in order.counts and all(map(is_host, order.counts))
