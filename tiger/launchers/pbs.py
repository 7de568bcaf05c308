"""Chunks of PBS, one for every run of consecutive ranks on a host.

Source: PBS Professional, User's Guide, chapters Allocating Resources and Multiprocessor Jobs (The Job's Node File): the
file $PBS_NODEFILE has a line for every MPI process, in the order of the chunks, and launchers start ranks in it.
"""

from collections.abc import Sequence
from itertools import groupby

from tiger.launchers.order import RankBinding, RankOrder, check_hosts


def write(order: RankOrder) -> str:
    """Return the directives of a job script that ask for the hosts in the order of ranks."""
    check_hosts(order)
    runs = groupby(order.bindings, key=lambda binding: binding.host)
    chunks = "+".join(_write_chunk(host, list(run)) for host, run in runs)
    return f"#PBS -l select={chunks}\n#PBS -l place=free\n"


def _write_chunk(host: str, run: Sequence[RankBinding]) -> str:
    """Return the chunk of consecutive ranks on a host, with their cores, else one each, and their threads."""
    cores = set().union(*(binding.cores for binding in run))
    # Where ompthreads is not stated, PBS takes ncpus for it (pbs_resources(7B)).
    threads = min(binding.bound.threads or 1 for binding in run)
    return f"1:ncpus={len(cores) or len(run)}:mpiprocs={len(run)}:ompthreads={threads}:host={host}"


def describe_pbs(order: RankOrder) -> str:
    """Say where the directives go, and what becomes of hosts that come several times."""
    text = "at the head of a job script, where mpiexec then starts ranks in the order of $PBS_NODEFILE"
    runs, hosts = len(order.runs), len(order.counts)
    if runs == hosts:
        return text
    return f"{text}\nmpiexec may take the {runs} chunks on {hosts} hosts together, whose ranks are not consecutive"
