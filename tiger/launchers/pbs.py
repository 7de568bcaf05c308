"""Chunks of PBS, one for every run of consecutive ranks on a host.

Source: PBS Professional, User's Guide, chapters Allocating Resources and Multiprocessor Jobs (The Job's Node File): the
file $PBS_NODEFILE has a line for every MPI process, in the order of the chunks, and launchers start ranks in it.
"""

from tiger.launchers.order import RankOrder, check_hosts


def write(order: RankOrder) -> str:
    """Return the directives of a job script that ask for the hosts in the order of ranks."""
    check_hosts(order)
    chunks = "+".join(f"1:ncpus={count}:mpiprocs={count}:host={host}" for host, count in order.runs)
    return f"#PBS -l select={chunks}\n#PBS -l place=free\n"


def describe_pbs(order: RankOrder) -> str:
    """Say where the directives go, and what becomes of hosts that come several times."""
    text = "at the head of a job script, where mpiexec then starts ranks in the order of $PBS_NODEFILE"
    runs, hosts = len(order.runs), len(order.counts)
    if runs == hosts:
        return text
    return f"{text}\nmpiexec may take the {runs} chunks on {hosts} hosts together, whose ranks are not consecutive"
