"""Hosts of launchers on one machine: names for it, and machines that are only described.

A launcher starts what it starts elsewhere by a program such as ssh. The one here runs the command on this machine, in a
UTS namespace (unshare(1)) with the name of the host, so that launcher, processes and MPI take it for another one.
"""

import os
import shutil
import subprocess
from pathlib import Path

AGENT = """#!/bin/sh
# ssh [-OPTION ..] HOST COMMAND ..
while case $1 in -*) true ;; *) false ;; esac; do shift; done
host=$1
shift
exec unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
"""
HEAD = '<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n'
GPU = (
    '<object type="Bridge" bridge_type="0-1" depth="0" bridge_pci="0000:[{bus:02x}-{bus:02x}]">'
    '<object type="PCIDev" pci_busid="0000:{bus:02x}:00.0" pci_type="0302 [10de:20b5] [10de:1533] a1 00">'
    '<object type="OSDev" name="cuda{k}" subtype="CUDA" osdev_type="5"/></object></object>'
)
SYSTEM = Path("/sys/devices/system/cpu")


def can_name_hosts() -> bool:
    """Return whether this machine lets a process have a host name of its own, which takes root or user namespaces."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    return subprocess.run([unshare, "--uts", "hostname", "n0"], capture_output=True, check=False).returncode == 0


def write_agent(folder: Path) -> Path:
    """Write the program that stands for ssh, and return it."""
    file = folder / "agent"
    file.write_text(AGENT)
    file.chmod(0o755)
    return file


def list_cores() -> list[list[int]]:
    """Return the processors of every core that this process may use, as Linux numbers them."""
    own = os.sched_getaffinity(0)
    lists = {(SYSTEM / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text(): cpu for cpu in sorted(own)}
    return [[cpu for cpu in sorted(own) if (_siblings(cpu) == text)] for text in sorted(lists, key=lists.__getitem__)]


def _siblings(cpu: int) -> str:
    """Return the processors of a core, as Linux lists them."""
    return (SYSTEM / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text()


def describe_machine(packages: list[list[list[int]]], gpus: int = 0) -> str:
    """Return the file of hwloc 2 of a machine: packages of cores of processors, over which GPUs are dealt in blocks."""
    every = [cpu for package in packages for core in package for cpu in core]
    bodies = []
    for number, package in enumerate(packages):
        cpus = [cpu for core in package for cpu in core]
        node = f'<object type="NUMANode" os_index="{number}" {_sets(cpus, number)} local_memory="1073741824"/>'
        cores = "".join(
            f'<object type="Core" os_index="{index}" {_sets(core, number)}>'
            + "".join(f'<object type="PU" os_index="{cpu}" {_sets([cpu], number)}/>' for cpu in core)
            + "</object>"
            for index, core in enumerate(package)
        )
        devices = "".join(GPU.format(k=k, bus=k + 16) for k in range(gpus) if k * len(packages) // gpus == number)
        sets = _sets(cpus, number)
        bodies.append(f'<object type="Package" os_index="{number}" {sets}>{node}{cores}{devices}</object>')
    whole = f'cpuset="{_mask(every)}" complete_cpuset="{_mask(every)}" allowed_cpuset="{_mask(every)}" '
    nodes = _mask(range(len(packages)))
    whole += f'nodeset="{nodes}" complete_nodeset="{nodes}" allowed_nodeset="{nodes}"'
    return f'{HEAD}<object type="Machine" os_index="0" {whole}>{"".join(bodies)}</object>\n</topology>\n'


def _sets(cpus: list[int], node: int) -> str:
    """Return the sets of an object of a package."""
    mask, nodes = _mask(cpus), _mask([node])
    return f'cpuset="{mask}" complete_cpuset="{mask}" nodeset="{nodes}" complete_nodeset="{nodes}"'


def _mask(numbers: "list[int] | range") -> str:
    """Return numbers as a set of hwloc."""
    words, mask = [], sum(1 << number for number in numbers)
    while mask or not words:
        words.append(f"0x{mask & 0xFFFFFFFF:08x}")
        mask >>= 32
    return ",".join(reversed(words))
