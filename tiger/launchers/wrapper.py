"""A shell script that starts a program as a rank, bound to its cores, whichever launcher starts the script.

The rank is that of the launcher's variable: of Open MPI, PMIx, Hydra and Intel MPI, PALS, Flux, Slurm and torchrun.
"""

import shlex

from tiger.errors import InputError
from tiger.launchers.binding import list_variables, write_numbers
from tiger.launchers.order import FIELD, RankBinding, RankOrder

# Slurm comes after those that start their daemons by srun, whose number the processes of these inherit.
RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID", "FLUX_TASK_RANK", "SLURM_PROCID", "RANK")


def write(order: RankOrder) -> str:
    """Return the script, with a case for the processors, the devices and the threads of every rank.

    Raises InputError of `emit` where the processors of cores are not known by the numbers of the operating system.
    """
    for binding in order.bindings:
        if not binding.bound.cpus and binding.cores:
            what = "expected hosts whose inside lstopo describes, with the processors of cores, for a wrapper"
            raise InputError(FIELD, f"{what}, got cores {write_numbers(binding.cores)} alone")
    known = "".join(f"${{{name}:-" for name in RANKS) + "}" * len(RANKS)
    cases = [f"{rank}) {_write_case(binding)} ;;" for rank, binding in enumerate(order.bindings)]
    other = '*) echo "no rank of this order: $rank" >&2; exit 2 ;;'
    return "\n".join(["#!/bin/sh", f"rank={known}", 'case "$rank" in', *cases, other, "esac", 'exec "$@"', ""])


def _write_case(binding: RankBinding) -> str:
    """Return what is done for a rank before its program."""
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in list_variables(binding).items())
    steps = [f"export {variables}"] if variables else []
    if binding.bound.cpus:
        steps.append(f'set -- taskset --cpu-list {write_numbers(sorted(binding.bound.cpus))} "$@"')
    return "; ".join(steps or [":"])


def describe_wrapper(_: RankOrder) -> str:
    """Return how the script is used beside a launcher that brings ranks to their hosts."""
    unbound = "which is to bind nothing (--bind-to none, --cpu-bind=none)"
    return f"sh FILE PROGRAM in place of PROGRAM in the command of a launcher, {unbound}"
