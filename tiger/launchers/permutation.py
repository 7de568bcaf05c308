"""The permutation that makes a rank order of the one in which processes have been started.

It needs no launcher's help: processes are started host by host, as all launchers do unless told otherwise, and a
communicator in the new order comes from `MPI_Comm_split` with the new rank as the key (MPI 4.1, section 7.4.2).
"""

from tiger.launchers.order import RankOrder, is_host


def write(order: RankOrder) -> str:
    """Return the new rank of every process, one a line, in the order in which processes have been started."""
    return "".join(f"{rank}\n" for rank in order.launched)


def describe_permutation(order: RankOrder) -> str:
    """Return the command of Open MPI that starts processes host by host; where hosts have no names, without these."""
    shares = ",".join(f"{host}:{count}" for host, count in order.counts.items())
    where = f"--host {shares} " if all(map(is_host, order.counts)) else ""
    level = "slot" if any(binding.number("core") is None for binding in order.bindings) else "core"
    return f"mpirun {where}--map-by {level} -n {len(order.bindings)} python examples/reorder.py FILE"
