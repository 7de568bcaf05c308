"""How launchers are told what ranks are bound to, beside the file that has their order.

Numbers of processors are those of the operating system, as launchers but Open MPI count: srun(1), `--cpu-bind`, whose
list is that of the ranks of every node by their numbers; `mpiexec -bind-to -help` of Hydra; Intel MPI Library,
Developer Reference, I_MPI_PIN_DOMAIN, whose masks need `0x`; flux-shell-options(7), `cpu-affinity`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from tiger.launchers.order import RankBinding, RankOrder
from tiger.model.resources import UNBOUND

LISTS = "--emit wrapper binds them as mapped, whichever launcher starts them"
UNKNOWN = "this binds no rank to its cores, as their processors are not known: those in files of lstopo are"
Processors = tuple[int, ...]


class BindingText(NamedTuple):
    """Hold options of a launcher before the program, variables before the command, and a line on what is not said."""

    options: Sequence[str] = ()
    variables: Sequence[str] = ()
    remark: str | None = None


def write_numbers(numbers: Sequence[int]) -> str:
    """Return numbers as ranges, in their order: `0-3,8`."""
    if len(numbers) == 1:
        return str(numbers[0])
    runs = list[str]()
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        own = [number for _, number in group]
        runs.append(f"{own[0]}-{own[-1]}" if len(own) > 1 else str(own[0]))
    return ",".join(runs)


def write_mask(cpus: Iterable[int]) -> str:
    """Return the hexadecimal mask of processors, `0xf` of the first four."""
    return hex(sum(1 << cpu for cpu in set(cpus)))


def list_variables(binding: RankBinding) -> dict[str, str]:
    """Return the variables of a rank: its threads, its GPU, and the network card that is near that."""
    bound, variables = binding.bound, dict[str, str]()
    if bound.threads is not None:
        variables["OMP_NUM_THREADS"] = str(bound.threads)
    if bound.gpu is not None:
        variables |= {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": str(bound.gpu)}
    if bound.nic is not None:
        # An equals sign asks NCCL for the exact name; UCX wants the port too, and cards for computing have one.
        variables |= {"NCCL_IB_HCA": f"={bound.nic}", "UCX_NET_DEVICES": f"{bound.nic}:1"}
    return variables


def describe_binding(launcher: str, order: RankOrder) -> BindingText:
    """Return what a launcher is told of cores, devices and threads; nothing where none is known."""
    if all(binding.bound == UNBOUND for binding in order.bindings):
        return BindingText()
    tell = _TELLERS.get(launcher)
    if tell is None and not _know_processors(order):
        return BindingText(remark="this binds no rank to its cores, nor sets OMP_NUM_THREADS")
    if tell is None:
        return BindingText(remark=f"this binds no rank to its cores, nor sets OMP_NUM_THREADS: {LISTS}")
    text = tell(order)
    devices = any(binding.bound.gpu is not None or binding.bound.nic is not None for binding in order.bindings)
    if devices and text.remark is None and tell is not _tell_files:
        return text._replace(remark=f"GPUs and network cards are left to the program: {LISTS}")
    return text


def _know_processors(order: RankOrder) -> bool:
    """Return whether the processors of all ranks are known, as a wrapper needs them."""
    return all(binding.bound.cpus for binding in order.bindings)


def _count_threads(order: RankOrder) -> str | None:
    """Return the setting of OMP_NUM_THREADS that all ranks have, None where they differ or none is known."""
    threads = {binding.bound.threads for binding in order.bindings}
    count = threads.pop() if len(threads) == 1 else None
    return None if count is None else f"OMP_NUM_THREADS={count}"


def _list_local(order: RankOrder) -> tuple[list[Processors], bool] | None:
    """Return the processors of the ranks of a host by their numbers, and whether they are those mapped on all hosts.

    Where hosts differ, ranks take the processors that are mapped on their host in order. None where that is not the
    same on all hosts as far as they go, or where processors are not known.
    """
    hosts = dict[str, list[Processors]]()
    for binding in order.bindings:
        hosts.setdefault(binding.host, []).append(binding.bound.cpus)
    if not all(all(own) for own in hosts.values()):
        return None
    for mapped in (True, False):
        lists = [own if mapped else sorted(own) for own in hosts.values()]
        longest = max(lists, key=len)
        if all(own == longest[: len(own)] for own in lists):
            return longest, mapped
    return None


def _tell_openmpi(order: RankOrder) -> BindingText:
    """Return the variable that mpirun passes on; the file has the cores."""
    threads = _count_threads(order)
    return BindingText(options=() if threads is None else (f"-x {threads}",))


def _tell_by_list(order: RankOrder, write: Callable[[list[Processors]], BindingText]) -> BindingText:
    """Return the binding by local ranks, or why it cannot be stated."""
    found, threads = _list_local(order), _count_threads(order)
    if found is None:
        differ = f"this binds no rank to its cores, as its list is that of every host, and hosts differ: {LISTS}"
        text = BindingText(remark=differ if _know_processors(order) else UNKNOWN)
    else:
        text = write(found[0])
        if not found[1] and text.remark is None:
            text = text._replace(remark=f"ranks take the cores of their host in order, not as mapped: {LISTS}")
    return text if threads is None else text._replace(variables=(threads, *text.variables))


def _tell_mpich(order: RankOrder) -> BindingText:
    """Return the binding for Hydra, which begins its list again where a host comes again."""
    runs = [host for host, _ in groupby(binding.host for binding in order.bindings)]
    text = _tell_by_list(order, _write_hydra)
    if len(runs) == len(set(runs)) or not _know_processors(order):
        return text
    return text._replace(options=(), remark=f"MPICH binds no ranks of hosts that come several times: {LISTS}")


def _tell_intel(order: RankOrder) -> BindingText:
    """Return the binding for Intel MPI, which wants a domain for every rank of a host and no more."""
    text = _tell_by_list(order, _write_intel)
    if len(set(order.counts.values())) == 1 or not _know_processors(order):
        return text
    threads = [variable for variable in text.variables if not variable.startswith("I_MPI")]
    remark = f"Intel MPI binds no ranks where hosts have different numbers of them: {LISTS}"
    return text._replace(variables=threads, remark=remark)


def _write_srun(local: list[Processors]) -> BindingText:
    """Return the option of srun; `--cpus-per-task` would imply `--exact`, and leave out processors of the masks."""
    return BindingText(options=(f"--cpu-bind=mask_cpu:{','.join(map(write_mask, local))}",))


def _write_hydra(local: list[Processors]) -> BindingText:
    """Return the option of Hydra."""
    return BindingText(options=(f"-bind-to user:{','.join('+'.join(map(str, cpus)) for cpus in local)}",))


def _write_intel(local: list[Processors]) -> BindingText:
    """Return the variable of Intel MPI; masks of several ranks on one domain are not domains."""
    if len(set(local)) < len(local):
        return BindingText(remark=f"domains of Intel MPI do not overlap, so that it binds no rank: {LISTS}")
    return BindingText(variables=(f"I_MPI_PIN_DOMAIN='[{','.join(map(write_mask, local))}]'",))


def _write_flux(local: list[Processors]) -> BindingText:
    """Return the options of flux run."""
    return BindingText(options=(f"-o cpu-affinity='map:{';'.join(map(write_numbers, local))}'",))


def _launch(order: RankOrder) -> RankOrder:
    """Return an order with the bindings of processes as a launcher starts them, host by host and slot by slot."""
    return replace(order, bindings=tuple(order.bindings[rank] for rank in order.launched))


def _tell_pbs(order: RankOrder) -> BindingText:
    """Return that the cores of a chunk are its ranks' together."""
    advice = f": {LISTS}" if _know_processors(order) else ""
    return BindingText(remark=f"PBS gives chunks their cores, and binds no rank to its own{advice}")


def _tell_files(_: RankOrder) -> BindingText:
    """Return nothing, as every line has it."""
    return BindingText()


_TELLERS: Mapping[str, Callable[[RankOrder], BindingText]] = {
    "openmpi": _tell_openmpi,
    "prrte": _tell_openmpi,
    "slurm": lambda order: _tell_by_list(order, _write_srun),
    # Cray MPICH renumbers what srun has started, whose list goes by slots.
    "cray": lambda order: _tell_by_list(_launch(order), _write_srun),
    "flux": lambda order: _tell_by_list(order, _write_flux),
    "mpich": _tell_mpich,
    "intel": _tell_intel,
    "pbs": _tell_pbs,
    "torchrun": _tell_files,
    "wrapper": _tell_files,
    "csv": _tell_files,
    "dot": _tell_files,
}
