"""The permutation that makes a rank order of the one in which processes have been started.

It needs no launcher's help: processes are started host by host, as all launchers do unless told otherwise, and a
communicator in the new order comes from `MPI_Comm_split` with the new rank as the key (MPI 4.1, section 7.4.2).
"""

from tiger.launchers.order import RankOrder


def write(order: RankOrder) -> str:
    """Return the new rank of every process, one a line, in the order in which processes have been started."""
    return "".join(f"{rank}\n" for rank in order.launched)


def describe_permutation(order: RankOrder) -> str:
    """Say how processes have to be started."""
    shares = ",".join(f"{host}:{count}" for host, count in order.counts.items())
    level = "slot" if any(seat.number("core") is None for seat in order.seats) else "core"
    return f"mpirun --host {shares} --map-by {level} -n {len(order.seats)} python examples/reorder.py FILE"
