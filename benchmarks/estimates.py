"""Measure what `?validate=true` estimates, fit its formulas, and say how far they are from other instances.

    python -m benchmarks.estimates

Instances but circuits are solved in processes of their own, forked from one that has loaded kernels by others. Half of
them fit the formulas, by least squares of logarithms, and the other half test these: their spread is what factors say.
"""

import ctypes
import json
import math
import os
import resource
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from tiger.api.routes.entries import ENTRIES
from tiger.api.routes.validation import describe
from tiger.api.schemas.limits import Limits
from tiger.api.seams.job import Kind

LIMITS = Limits(max_tasks=1 << 14, max_time_s=600.0)
PATTERNS = ("halo:8x8", "ring:40", "alltoall:32", "fft:8x8", "cg:8x8", "halo:16x16", "alltoall:96", "cg:16x16")
LARGE = ("halo:32x32", "fft:16x32", "ring:900", "cg:32x32", "halo:48x48", "tree-allreduce:1024", "halo:12x12x12")
SHARED = ("tree:4x4x4@1,10,100", "torus:4x4x4", "dragonfly:4,8,2")
# Every instance of this number is solved first, so that all kernels are loaded.
WARM = 4
# Powers are of these sizes.
POWERS = {
    "SECONDS tasks": ("tasks",),
    "SECONDS circuit": ("two_qubit_gates", "qubits"),
    "SECONDS layers": ("layers", "devices"),
    "BYTES tasks": ("tasks", "nodes"),
    "BYTES layers": ("layers", "devices"),
}


class Measured(NamedTuple):
    """Hold the group of an instance, its sizes, seconds at effort 1 and bytes."""

    group: str
    sizes: Mapping[str, int]
    seconds: float
    memory: float


def main() -> None:
    """Print formulas and how far they are from instances that they were not fitted to."""
    instances = [*list_tasks(), *list_circuits(), *list_networks()]
    for _, kind, fields in instances[::WARM]:
        _solve(kind, _body(fields))
    measured = [measure(*instance) for instance in instances]
    for name in ("tasks", "circuit 1", "circuit 2", "circuit 3", "layers"):
        some = [each for each in measured if each.group == name]
        show("SECONDS", name, some, lambda each: each.seconds)
    for name in ("tasks", "layers"):
        some = [each for each in measured if each.group == name]
        show("BYTES", name, some, lambda each: each.memory)


def list_tasks() -> list[tuple[str, Kind, dict[str, object]]]:
    """Return mappings one to one, and with nodes that are shared."""
    found: list[tuple[str, Kind, dict[str, object]]] = []
    for number, tasks in enumerate(PATTERNS + LARGE):
        size = describe(ENTRIES["assign"].check(_body({"tasks": tasks, "topology": "ring:4"}), LIMITS), LIMITS)
        count = size.sizes["tasks"]
        side = math.ceil(math.sqrt(count))
        for topology in (f"torus:{side}x{side}", f"tree:{math.ceil(count / 16)}x4x4@1,10,100", SHARED[number % 3]):
            found.append(("tasks", "assign", {"tasks": tasks, "topology": topology, "seed": number}))  # noqa: PERF401 (of two loops)
    return found


def list_circuits() -> list[tuple[str, Kind, dict[str, object]]]:
    """Return random circuits and Fourier transforms at three levels."""
    found: list[tuple[str, Kind, dict[str, object]]] = []
    for number, (qubits, gates) in enumerate(
        ((4, 20), (8, 60), (12, 200), (16, 100), (20, 400), (24, 150), (30, 600), (40, 300), (16, 1000), (50, 800))
    ):
        draw = np.random.default_rng(number)
        pairs = [draw.permutation(qubits)[:2] for _ in range(gates)]
        lines = "".join(f"rz(0.3) q[{a}]; cx q[{a}],q[{b}];" for a, b in pairs)
        text = f'OPENQASM 2.0; include "qelib1.inc"; qreg q[{qubits}]; {lines}'
        device = "heavy-hex:7" if number % 2 else "grid:8x8"
        found += [
            (f"circuit {level}", "assign", {"circuit": text, "topology": device, "level": level}) for level in (1, 2, 3)
        ]
    return found


def list_networks() -> list[tuple[str, Kind, dict[str, object]]]:
    """Return transformers on accelerators."""
    shape = "hidden=1024,heads=16,vocabulary=50257,sequence=2048"
    return [
        ("layers", "place", {"model": f"transformer:layers={layers},{shape}", "cluster": f"dgx:{machines}"})
        for machines in (1, 2, 4)
        for layers in (8, 16, 24, 48, 64, 96)
    ]


def measure(group: str, kind: Kind, fields: Mapping[str, object]) -> Measured:
    """Return what an instance has and takes."""
    body = _body(fields)
    sizes = describe(ENTRIES[kind].check(body, LIMITS), LIMITS).sizes
    # Qiskit's own threads do not come along into a process that is forked.
    apart = not group.startswith("circuit")
    seconds, memory = _run_apart(lambda: _solve(kind, body)) if apart else (_time(lambda: _solve(kind, body)), 0.0)
    print(group, dict(sizes), f"{seconds:.3f} s", f"{memory / 1e6:.1f} MB", flush=True)
    return Measured(group, sizes, seconds, memory)


def show(table: str, name: str, some: list[Measured], figure: Callable[[Measured], float]) -> None:
    """Print the formula of a figure, and the factors that half and nine tenths of other instances are within."""
    powers = POWERS[f"{table} {name.split()[0]}"]
    rows = np.array([[1.0, *(math.log(max(each.sizes[size], 1)) for size in powers)] for each in some])
    values = np.log([max(figure(each), 1e-3) for each in some])
    fitted = np.linalg.lstsq(rows[::2], values[::2], rcond=None)[0]
    apart = np.exp(np.abs(rows[1::2] @ fitted - values[1::2]))
    near, far = np.quantile(apart, (0.5, 0.9))
    shown = {size: round(float(power), 2) for size, power in zip(powers, fitted[1:], strict=True)}
    least = min(map(figure, some))
    print(f"{table}[{name!r}] = PowerLaw({math.exp(fitted[0]):.2g}, {shown}, {far:.1f}, {least:.2g})")
    print(f"    {len(some[1::2])} others: half within {near:.2f}, nine tenths within {far:.2f}")


def _solve(kind: Kind, body: bytes) -> None:
    """Answer a body."""
    ENTRIES[kind].answer(body, LIMITS)


def _time(work: Callable[[], None]) -> float:
    """Return the processor seconds that work takes here."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _run_apart(work: Callable[[], None]) -> tuple[float, float]:
    """Return the processor seconds and the bytes that work takes in a process of its own."""
    # What the parent has freed is no room for the child.
    ctypes.CDLL(None).malloc_trim(0)
    read, write = os.pipe()
    if not os.fork():
        before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        work()
        seconds = time.process_time() - begun
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os.write(write, json.dumps([seconds, 1024 * more]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        seconds, memory = json.loads(pipe.read())
    os.wait()
    return seconds, memory


def _body(fields: Mapping[str, object]) -> bytes:
    """Return fields as a body."""
    return json.dumps(fields).encode()


if __name__ == "__main__":
    main()
