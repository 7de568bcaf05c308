"""Open MPI of this machine: where it is, and how its programs are run."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.launcher_programs import FOLDER, ROOTED, simulate_hosts


def require(*modules: str) -> None:
    """Skip where there is no Open MPI 4 or module of Python, or fail where TIGER_TEST_MPI says that it is required."""
    found = shutil.which("mpicc") and shutil.which("mpirun")
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout if found else ""
    if "(Open MPI) 4." not in version or not all(map(find_spec, modules)):
        reason = f"{' and '.join(('mpirun and mpicc of Open MPI 4', *modules))} are not installed"
        pytest.fail(reason) if os.environ.get("TIGER_TEST_MPI") == "required" else pytest.skip(reason)


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """Run a command of Open MPI's, at the end of which it has said what it has to."""
    command = list(map(str, words))
    made = subprocess.run(command, env=os.environ | ROOTED, capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    return made


def count_cores() -> int:
    """Return the number of cores, each of one or more processors, that this process may use."""
    devices = Path("/sys/devices/system/cpu")
    return len({(devices / f"cpu{cpu}/topology/thread_siblings_list").read_text() for cpu in os.sched_getaffinity(0)})


def simulate(machine: Path, ranks: int, hosts: int, slots: int, *words: object) -> str:
    """Return the map of ranks that Open MPI 5 makes of hosts that are simulated by the XML of a machine.

    Skip where `make launchers` has not installed it.
    """
    mpirun = FOLDER / "openmpi" / "bin" / "mpirun"
    if not mpirun.exists():
        pytest.skip(f"there is no Open MPI 5 in {FOLDER}: make launchers")
    command = [mpirun, *simulate_hosts(machine, hosts, slots), *words, "-n", ranks, "true"]
    made = subprocess.run(
        list(map(str, command)), env=os.environ | ROOTED, capture_output=True, text=True, timeout=60, check=False
    )
    return made.stdout
