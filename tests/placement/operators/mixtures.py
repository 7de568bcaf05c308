"""Small mixtures of all that terms may hold, the best placement of each by trying all, and kernels as plain Python."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tiger.model.arrays import IntArray
from tiger.placement.operators.bounds import branch_and_bound, column_generation, exact, pricing_annealing
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.solvers import generator
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.operators import Operators


def chain(seconds: list[float], sent_s: float, memory_bytes: list[float]) -> Operators:
    """Return operators of which each reads the one before."""
    size = len(seconds)
    return Operators(
        names=tuple(f"op{k}" for k in range(size)),
        seconds=np.array(seconds),
        sent_s=np.full(size, sent_s),
        memory_bytes=np.array(memory_bytes),
        source=np.arange(size - 1),
        target=np.arange(1, size),
    )


def mixture(seed: int) -> Terms:
    """Draw up to eight operators on up to three devices: cpus, speeds, pins, full memory, curves, links that lack."""
    rng = np.random.default_rng(seed)
    size, devices = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    source, target = np.nonzero(np.triu(rng.random((size, size)) < rng.choice([0.2, 0.5]), 1))
    cpu = rng.random(devices) < 0.25
    operators = Operators(
        names=tuple(f"op{k}" for k in range(size)),
        seconds=rng.integers(0, 8, size).astype(float),
        cpu_s=rng.integers(1, 12, size).astype(float),
        memory_bytes=rng.integers(1, 6, size).astype(float),
        sent_s=rng.choice([0.0, 0.5, 2.0], size),
        sent_bytes=rng.choice([0.0, 1.0, 4.0], size),
        source=source,
        target=target,
        colour=rng.integers(0, min(size, 6), size),
        cpu_only=(rng.random(size) < 0.1) & cpu.any(),
    )
    link = np.triu(rng.integers(rng.choice([-1, 0]), 2, (devices, devices)), 1)
    same = rng.random() < 0.5
    cluster = Cluster(
        names=tuple(f"d{k}" for k in range(devices)),
        speed=np.ones(devices) if same else rng.choice([1.0, 2.0], devices),
        memory_bytes=np.full(devices, 10.0) if same else rng.choice([3.0, 6.0, 10.0, 100.0], devices),
        curves=(Curve.affine(2.0, 0.0), Curve.affine(5.0, 0.1)),
        link=link + link.T,
        kinds=tuple("cpu" if each else "accelerator" for each in cpu),
    )
    pinned = {int(k): int(rng.integers(devices)) for k in np.flatnonzero(rng.random(size) < 0.08)}
    return Terms.from_operators(operators, cluster, pinned)


def worth(terms: Terms, place: IntArray) -> float:
    """Return the largest load of a placement, infinite where it does not fit or is not allowed."""
    fits = (held_bytes(terms, place) <= terms.capacity).all() and terms.allowed[np.arange(terms.groups), place].all()
    with np.errstate(invalid="ignore"):
        return float(np.add(*loads_s(terms, place)).max()) if fits else np.inf


def best_of_all(terms: Terms) -> tuple[float, IntArray | None]:
    """Return the smallest largest load of all placements, and one that has it, None where nothing fits."""
    every = (np.array(place) for place in itertools.product(range(terms.devices), repeat=terms.groups))
    best, found = np.inf, None
    for place in every:
        if (value := worth(terms, place)) < best:
            best, found = value, place
    return best, found


def interpret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the kernels of branch and bound, and of heuristic pricing, by their Python functions; anneal less."""
    monkeypatch.setattr(column_generation, "PARAMS", replace(column_generation.PARAMS, steps=300))
    for module in (branch_and_bound, exact, generator, pricing_annealing):
        for name, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
