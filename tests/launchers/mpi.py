"""Open MPI of this machine: where it is, and how its programs are run."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

# Open MPI refuses to run as root unless it is told twice.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


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
    made = subprocess.run(command, env=os.environ | AS_ROOT, capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    return made


def count_cores() -> int:
    """Return the number of cores, each of one or more processors, that this process may use."""
    devices = Path("/sys/devices/system/cpu")
    return len({(devices / f"cpu{cpu}/topology/thread_siblings_list").read_text() for cpu in os.sched_getaffinity(0)})


def simulate(machine: Path, ranks: int, hosts: int, slots: int, *words: object) -> str:
    """Return the map of ranks that Open MPI 5 makes of hosts that are simulated by the XML of a machine.

    Skip where TIGER_TEST_MPI5 does not name its mpirun.
    """
    mpirun = os.environ.get("TIGER_TEST_MPI5")
    if mpirun is None:
        pytest.skip("TIGER_TEST_MPI5 does not name mpirun of Open MPI 5")
    options = {
        "ras": "simulator",
        "ras_simulator_num_nodes": hosts,
        "ras_simulator_slots": slots,
        "ras_simulator_topo_files": machine,
        "hwloc_use_topo_file": machine,
    }
    stated = [str(word) for option in options.items() for word in ("--prtemca", *option)]
    command = [mpirun, *stated, "--do-not-launch", "--display", "map", *map(str, words), "-n", str(ranks), "true"]
    root = AS_ROOT | {name.replace("OMPI", "PRTE"): value for name, value in AS_ROOT.items()}
    return subprocess.run(command, env=os.environ | root, capture_output=True, text=True, timeout=60).stdout
