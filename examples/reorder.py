"""Reorder the ranks of an MPI job by a file of `tiger ranks --emit permutation`: mpirun python reorder.py FILE."""

import sys
from pathlib import Path

from mpi4py import MPI

world = MPI.COMM_WORLD
new = [int(line) for line in Path(sys.argv[1]).read_text().split()]
if len(new) != world.size:
    sys.exit(f"expected {len(new)} processes, as {sys.argv[1]} has lines, got {world.size}")
ordered = world.Split(color=0, key=new[world.rank])
sys.stdout.write(f"process {world.rank} is rank {ordered.rank}\n")
