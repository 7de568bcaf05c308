"""The wrapper that binds ranks, run as a launcher would start it."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.launchers.orders import NODES
from tiger.launchers import wrapper
from tiger.launchers.order import order_ranks
from tiger.model.resources import Resources

SAY = (
    "import json, os, sys; sys.stdout.write(json.dumps([sorted(os.sched_getaffinity(0)), dict(os.environ)]) + chr(10))"
)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Return a wrapper of two ranks with a GPU each, on processors of this process."""
    cpus = sorted(os.sched_getaffinity(0))
    bound = tuple(Resources(cores=(k,), cpus=(cpus[k % len(cpus)],), gpu=k + 2, nic=f"mlx5_{k}") for k in (0, 1, 0))
    order = order_ranks({"0": "n1", "1": "n0"}, replace(NODES, resources=bound, cores_per_rank=1))
    (tmp_path / "wrapper.sh").write_text(wrapper.write(order))
    return tmp_path / "wrapper.sh"


def start(script: Path, variables: dict[str, str]) -> tuple[list[int], dict[str, str]]:
    """Return the processors and the variables of a program that the wrapper starts."""
    words = ["sh", str(script), sys.executable, "-c", SAY]
    clean = {name: value for name, value in os.environ.items() if name not in wrapper.RANKS}
    made = subprocess.run(words, env=clean | variables, capture_output=True, text=True, check=True)
    processors, found = json.loads(made.stdout)
    return processors, found


@pytest.mark.parametrize("variable", wrapper.RANKS)
def test_a_rank_has_its_core_its_gpu_and_its_card(script: Path, variable: str) -> None:
    """By whichever variable the launcher says the rank."""
    cpus = sorted(os.sched_getaffinity(0))
    processors, found = start(script, {variable: "0"})
    assert processors == [cpus[1 % len(cpus)]]
    names = ("CUDA_VISIBLE_DEVICES", "NCCL_IB_HCA", "UCX_NET_DEVICES", "OMP_NUM_THREADS")
    assert [found[name] for name in names] == ["3", "=mlx5_1", "mlx5_1:1", "1"]
    assert start(script, {variable: "1"})[0] == cpus[:1]


def test_bug_the_rank_of_a_daemon_is_not_that_of_its_processes(script: Path) -> None:
    """Hydra starts a daemon on every host by srun inside a job of Slurm, and its processes inherit that number."""
    _, found = start(script, {"SLURM_PROCID": "0", "PMI_RANK": "1"})
    assert found["CUDA_VISIBLE_DEVICES"] == "2"


@pytest.mark.parametrize("variables", [{}, {"PMI_RANK": "2"}])
def test_other_ranks_are_refused(script: Path, variables: dict[str, str]) -> None:
    """The program is not started."""
    with pytest.raises(subprocess.CalledProcessError) as caught:
        start(script, variables)
    assert (caught.value.returncode, "no rank of this order" in caught.value.stderr) == (2, True)
