"""Reorder the ranks of an MPI job by a file of `tiger ranks --emit permutation`: mpirun python reorder.py FILE.

A line of the file is `RANK HOST`. Processes find their lines by the name of their host, in whatever order the launcher
has started the hosts; those on a host that is not planned, or that has too many, take what is left, and it is said.
"""

import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from mpi4py import MPI


def match(lines: Sequence[str], hosts: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the new rank of every process, which runs on hosts[p], and the hosts of those that are not as planned."""
    planned = defaultdict[str, list[int]](list)
    for line in lines:
        rank, _, host = line.partition(" ")
        if not rank.isdecimal():
            sys.exit(f"expected lines such as `3 n07`, got {line!r}")
        planned[short(host)].append(int(rank))
    new = [planned[short(host)].pop(0) if planned[short(host)] else None for host in hosts]
    rest = iter([rank for ranks in planned.values() for rank in ranks])
    lost = [host for host, rank in zip(hosts, new, strict=True) if rank is None]
    return [next(rest) if rank is None else rank for rank in new], lost


def short(host: str) -> str:
    """Return the first part of a host's name, as some launchers and systems add the domain; an address as it is."""
    first = host.partition(".")[0]
    return host if first.isdecimal() else first


world = MPI.COMM_WORLD
plan = Path(sys.argv[1]).read_text().splitlines()
if len(plan) != world.size:
    sys.exit(f"expected {len(plan)} processes, as {sys.argv[1]} has lines, got {world.size}")
here = MPI.Get_processor_name()
new, lost = match(plan, world.allgather(here))
if lost and world.rank == 0 and " " in plan[0]:
    sys.stderr.write(f"{len(lost)} of {world.size} processes are on other hosts than planned: {' '.join(lost)}\n")
ordered = world.Split(color=0, key=new[world.rank])
sys.stdout.write(f"process {world.rank} on {here} is rank {ordered.rank}\n")
