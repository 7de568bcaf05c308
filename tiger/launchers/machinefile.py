"""Files of hosts in the order of ranks: those of Slurm and Flux, of MPICH and Intel MPI, hosts of NCCL rings.

Sources: srun(1), `--distribution=arbitrary`, https://slurm.schedmd.com/srun.html; flux-run(1), `--taskmap=hostfile`,
and `--requires`, https://flux-framework.readthedocs.io/projects/flux-core; the Hydra process manager,
https://github.com/pmodels/mpich/blob/main/doc/wiki/how_to/Using_the_Hydra_Process_Manager.md; Intel MPI Library,
Developer Reference, `-machinefile`. Hydra and Intel MPI start ranks line after line, as many as stand behind the colon.
"""

from tiger.launchers.order import RankOrder, check_hosts


def write_hosts(order: RankOrder) -> str:
    """Return the host of every rank, one a line, in the order of ranks, for Slurm and Flux."""
    check_hosts(order)
    return "".join(f"{binding.host}\n" for binding in order.bindings)


def write_machines(order: RankOrder) -> str:
    """Return `HOST:COUNT` for every run of ranks on one host, in the order of ranks."""
    check_hosts(order)
    return "".join(f"{host}:{count}\n" for host, count in order.runs)


def write_rings(order: RankOrder) -> str:
    """Return every host once, in the order of its lowest rank, in which NCCL closes rings between hosts."""
    check_hosts(order)
    return "".join(f"{host}\n" for host in dict.fromkeys(binding.host for binding in order.bindings))


def describe_slurm(order: RankOrder) -> str:
    """Return the command that takes the file."""
    sizes = f"--nodes={len(order.counts)} --ntasks={len(order.bindings)}"
    return f"SLURM_HOSTFILE=FILE srun {sizes} --distribution=arbitrary PROGRAM"


def describe_flux(order: RankOrder) -> str:
    """Return the command that takes the file.

    Nodes are taken whole: flux run shares cores out equally, also where some hosts get more ranks than others.
    """
    sizes = f"--nodes={len(order.counts)} --ntasks={len(order.bindings)} --exclusive"
    return f"flux run --requires=host:{','.join(order.counts)} {sizes} --taskmap=hostfile:FILE PROGRAM"


def describe_mpich(order: RankOrder) -> str:
    """Return the command of MPICH that takes the file, and what becomes of hosts that come several times.

    MPICH takes a host that is listed again for another node, so that ranks on it do not share memory with those before.
    """
    command, runs, hosts = f"mpiexec -f FILE -n {len(order.bindings)} PROGRAM", len(order.runs), len(order.counts)
    if runs == hosts:
        return command
    return f"{command}\nMPICH makes {runs} nodes of the {hosts} hosts, whose ranks are not consecutive"


def describe_intel(order: RankOrder) -> str:
    """Return the command of Intel MPI that takes the file."""
    return f"mpiexec -machinefile FILE -n {len(order.bindings)} PROGRAM"


def describe_rings(_: RankOrder) -> str:
    """Say what the file is for."""
    return "start hosts in this order, the first with rank 0; NCCL keeps it in its rings"
