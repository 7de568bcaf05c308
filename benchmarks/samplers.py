"""The samplers side by side on the same models: what comes raw, what repair and polish make of it, and the time."""

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from dimod.core.sampler import Sampler

from benchmarks.instances import best_found, generate
from benchmarks.tuning import lowest
from tiger.feasibility.start import launch_order
from tiger.mapping.mapper import solve
from tiger.mapping.sampler_policy import draw_bits, ising_of
from tiger.model.problem import Problem
from tiger.model.window import fold, whole
from tiger.qubo.ising import WindowTask
from tiger.qubo.params import IsingParams, Sampling
from tiger.qubo.tune import Trial, TuneParams
from tiger.solvers import registry

SEEDS = (0, 1, 2)
CHOSEN = ("dense 9 on grid:3x3", "dense 12 on grid:3x4", "ring 12 on hexagons")
SAMPLING = Sampling(rounds=8, reads=8, sweeps=1000)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield mean gaps in per cent to the best found, raw, repaired and polished, and seconds, a sampler a row.

    All get the same rounds and reads of the whole problem; exact search proves the optimum instead.
    """
    problems = [(name, problem) for name, problem in generate() if name in CHOSEN]
    yield ("sampler", *(f"{name}: raw / repaired / polished" for name, _ in problems))
    best = [best_found(problem) for _, problem in problems]
    for name, sampler in samplers().items():
        say(name)
        rows = (measure(problem, sampler, least) for (_, problem), least in zip(problems, best, strict=True))
        yield (name, *rows)
    say("exact")
    yield ("`exact` (search, with proof)", *(prove(problem) for _, problem in problems))


def samplers() -> dict[str, Sampler]:
    """Return the samplers by name."""
    from dwave.system.testing import MockDWaveSampler

    from tiger.solvers.samplers.dwave import QpuSampler

    sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
    from openjij_sampler import OpenJij

    return {
        "`neal`": registry.sampler("neal"),
        "`tabu`": registry.sampler("tabu"),
        "OpenJij": OpenJij(),
        "D-Wave's mock of a Pegasus-16 QPU (steepest descent)": QpuSampler(
            MockDWaveSampler(topology_type="pegasus", topology_shape=[16])
        ),
        "D-Wave's mock of a Zephyr-12 QPU (steepest descent)": QpuSampler(
            MockDWaveSampler(topology_type="zephyr", topology_shape=[12])
        ),
    }


def measure(problem: Problem, sampler: Sampler, best: float) -> str:
    """Return the mean gaps of the best raw, repaired and polished reads over the seeds, and the mean seconds."""
    gaps, begun = [], time.perf_counter()
    for seed in SEEDS:
        trials = sample_rounds(problem, sampler, seed)
        gaps.append([100 * (lowest(trials, kind) / best - 1) for kind in ("raw", "repaired", "polished")])
    seconds = (time.perf_counter() - begun) / len(SEEDS)
    text = " / ".join(f"{gap:.1f}" if np.isfinite(gap) else "none feasible" for gap in np.mean(gaps, axis=0))
    return f"{text} ({seconds:.2f} s)"


def sample_rounds(problem: Problem, sampler: Sampler, seed: int) -> tuple[Trial, ...]:
    """Return the rounds of sampling a whole problem."""
    start = launch_order(problem)
    assert not isinstance(start, tuple)
    window, ising = fold(problem, whole(problem), start), ising_of(sampler, problem, IsingParams())
    params = TuneParams(rounds=SAMPLING.rounds, strength=ising.strengths[0], tuner=ising.tuner)
    draw = partial(draw_bits, sampler, IsingParams())
    return WindowTask(window, start, draw, registry.polish(problem), SAMPLING, params, seed, bool).solve().trials


def prove(problem: Problem) -> str:
    """Return what exact search says."""
    report = solve(problem, solver="exact")
    return f"{'optimal' if report.optimal else 'not proved'} ({report.seconds:.2f} s)"
