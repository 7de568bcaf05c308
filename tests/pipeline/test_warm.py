"""Tests of loading what places operators."""

import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import event

import tiger
from tiger.pipeline import warm

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("aim", [{"objective": "both"}, {"contiguous": True}, {}])
def test_nothing_is_compiled_afterwards(aim: dict[str, object]) -> None:
    """By listening to numba."""
    warm.warm(lambda _: None)
    with event.install_recorder("numba:compile") as recorder:
        model, cluster = EXAMPLES / "models" / "two_towers.csv", EXAMPLES / "clusters" / "pair_and_host.json"
        tiger.place(model, cluster, mode="dag", **aim)  # type: ignore[arg-type]  # arguments by name
    assert recorder.buffer == []


@pytest.mark.slow
@pytest.mark.parametrize("cluster", ["one device", "no link"])
def test_bug_nothing_is_compiled_for_one_device_or_where_nothing_fits(cluster: str) -> None:
    """Layouts of arrays, or that they are read-only, would be another signature of every kernel."""
    warm.warm(lambda _: None)
    devices = [{"name": "a", "memory_bytes": 1e12}, {"name": "b", "memory_bytes": 1e12}]
    rows = [{"name": name, "seconds": 1.0, "memory_bytes": 1.0, "output_bytes": 1.0} for name in "xy"]
    model = {"operators": rows, "edges": [["x", "y"]]}
    with event.install_recorder("numba:compile") as recorder:
        if cluster == "one device":
            tiger.place(model, {"devices": devices[:1], "uniform_bandwidth": 1e9}, mode="dag", objective="both")
        else:
            pinned = {"x": "a", "y": "b"}
            report = tiger.place(model, {"devices": devices, "links": []}, mode="dag", pinned=pinned)
            assert [violation.kind for violation in report.violations] == ["links"]
    assert recorder.buffer == []


# Kernels by module, the ones that are loaded, and those that these call.
SCRIPT = """
import importlib, pkgutil
import tiger
from numba.core.dispatcher import Dispatcher
from tiger.bounds import warm as bounds
from tiger.circuits import warm as circuits
from tiger.pipeline import warm as placements
from tiger.solvers import warm as searches

kernels = {}
for found in pkgutil.walk_packages(tiger.__path__, "tiger."):
    # The service has no kernels, and modules that run when they are imported.
    if not found.name.startswith("tiger.api") and not found.name.endswith("__main__"):
        module = importlib.import_module(found.name)
        own = {k: v for k, v in vars(module).items() if isinstance(v, Dispatcher)}
        kernels |= {v: f"{module.__name__}.{k}" for k, v in own.items() if v.py_func.__module__ == module.__name__}
for part in (bounds, circuits, placements, searches):
    part.warm(lambda _: None)
compiled = {kernel for kernel in kernels if kernel.signatures}
waiting = list(compiled)
while waiting:
    function = waiting.pop().py_func
    called = {function.__globals__.get(name) for name in function.__code__.co_names} & kernels.keys()
    waiting += called - compiled
    compiled |= called
print(len(kernels), *sorted(kernels[kernel] for kernel in kernels.keys() - compiled))
"""


@pytest.mark.slow
def test_bug_every_kernel_of_the_package_is_compiled() -> None:
    """By a list of all, in a process that has done nothing else: a kernel that none loads would cost the first run."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    count, *missing = done.stdout.split()
    assert int(count) > 200
    assert missing == []
