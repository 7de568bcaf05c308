"""What tuning, repair and polish gain over raw simulated annealing, and what peers reach in the same time."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import dimod
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler
from scipy.optimize import quadratic_assignment

from benchmarks.instances import best_found, generate, qaplib
from tiger.feasibility.start import launch_order
from tiger.mapping.mapper import solve
from tiger.mapping.sampler_policy import draw_bits
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.window import Window, fold, whole
from tiger.objectives.cost import cost_of
from tiger.qubo.ising import Turn
from tiger.qubo.params import IsingParams, Sampling
from tiger.qubo.tune import Bisection, Fixed, Trial, TuneParams, Tuner, tune

SEEDS = (0, 1, 2)
SMALL = ("nug12", "nug20", "had20", "tai20a")
ROUNDS, READS, SWEEPS = 8, 8, 1000
HEAD = (
    "instance",
    "neal, dimod's weights",
    "neal, safe bound",
    "neal, tuned",
    "tuned, repaired and polished",
    "`--solver neal`",
    "`--solver auto`",
    "scipy 2-opt",
    "scipy FAQ",
)


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield rows of mean gaps in per cent, with seconds for whole solvers; scipy gets as long as `--solver neal`."""
    yield HEAD
    gaps = []
    for name, problem in generate():
        say(name)
        gaps.append(measure(problem, best_found(problem)))
        yield name, *cells(gaps[-1])
    yield "**mean of the eight**", *cells(np.nanmean(gaps, axis=0))
    for name, problem, best in qaplib(data, SMALL) if data else ():
        say(name)
        yield f"QAPLIB {name}", *cells(measure(problem, best))


def cells(row: FloatArray) -> list[str]:
    """Return the cells of a row of gaps followed by the seconds of both solvers."""
    text = [f"{gap:.1f}" if np.isfinite(gap) else "none feasible" for gap in row[:8]]
    text[4] += f" ({row[8]:.2f} s)"
    text[5] += f" ({row[9]:.2f} s)"
    return text


def measure(problem: Problem, best: float) -> FloatArray:
    """Return eight mean gaps in per cent over the seeds, and the seconds of `neal` and `auto`."""
    window = fold(problem, whole(problem), launch_order(problem))
    rows = []
    for seed in SEEDS:
        reports = [solve(problem, solver=solver, seed=seed) for solver in ("neal", "auto")]
        safe, tuned = (sample_rounds(window, problem, tuner, seed) for tuner in (Fixed(), Bisection()))
        costs = [
            defaults(problem, seed),
            lowest(safe, "raw"),
            lowest(tuned, "raw"),
            lowest(tuned, "polished"),
            *(report.cost for report in reports),
            *(scipy_cost(problem, method, seed, reports[0].seconds) for method in ("2opt", "faq")),
        ]
        rows.append([*(100 * (cost / best - 1) for cost in costs), *(report.seconds for report in reports)])
    return np.nanmean(rows, axis=0)


def sample_rounds(window: Window, problem: Problem, tuner: Tuner, seed: int) -> tuple[Trial, ...]:
    """Return the rounds of sampling a whole problem with a tuner, every read repaired and polished."""
    from tiger.solvers import registry

    sampling = Sampling(rounds=ROUNDS, reads=READS, sweeps=SWEEPS)
    polish, start = registry.polish(problem), launch_order(problem)
    draw = partial(draw_bits, SimulatedAnnealingSampler(), IsingParams())
    return tune(
        window,
        lambda bqm, penalties, draw_seed: draw(bqm, penalties, sampling, Turn(draw_seed, bool)),
        lambda local: window.local(polish(window.place(start, local), window.block, bool)),
        TuneParams(rounds=ROUNDS, tuner=tuner),
        seed=seed,
        stop=bool,
    ).trials


def lowest(trials: tuple[Trial, ...], field: str) -> float:
    """Return the best cost of a kind over the rounds, NaN without one."""
    found = [cost for trial in trials if (cost := getattr(trial, field)) is not None]
    return min(found, default=float("nan"))


def defaults(problem: Problem, seed: int) -> float:
    """Return the cost by a constrained model, dimod's own conversion and neal's own schedule, NaN without any."""
    size = problem.tasks.size
    model = dimod.ConstrainedQuadraticModel()
    bits = np.array([[dimod.Binary((t, p)) for p in range(size)] for t in range(size)])
    edges, away = problem.tasks.traffic.tocoo(), problem.metric.between(*np.ogrid[:size, :size])
    objective = dimod.BinaryQuadraticModel(dimod.BINARY)
    objective.add_variables_from({(t, p): 0.0 for t in range(size) for p in range(size)})
    for t, u, volume in zip(edges.row.tolist(), edges.col.tolist(), edges.data.tolist(), strict=True):
        if t != u:
            pairs = [((t, p), (u, q), volume * away[p, q]) for p in range(size) for q in range(size) if p != q]
            objective.add_quadratic_from(pairs)
    model.set_objective(objective)
    for line in (*bits, *bits.T):
        model.add_constraint(sum(line) == 1)
    bqm, invert = dimod.cqm_to_bqm(model)
    found = SimulatedAnnealingSampler().sample(bqm, num_reads=ROUNDS * READS, num_sweeps=SWEEPS, seed=seed)
    feasible = [sample for sample in map(invert, found.samples()) if model.check_feasible(sample)]
    places = [np.array([next(p for p in range(size) if s[t, p]) for t in range(size)]) for s in feasible]
    return min((cost_of(problem, place).total for place in places), default=float("nan"))


def scipy_cost(problem: Problem, method: str, seed: int, limit_s: float) -> float:
    """Return the best of scipy's restarts within a time limit; the first always runs."""
    traffic, nodes = problem.tasks.traffic.toarray(), np.arange(problem.tasks.size)
    away = problem.metric.between(nodes[:, None], nodes[None, :])
    best, begun, rng = float("inf"), time.perf_counter(), np.random.default_rng(seed)
    while best == float("inf") or time.perf_counter() - begun < limit_s:
        options = {"rng": rng} if method == "2opt" else {"rng": rng, "P0": "randomized"}
        places: IntArray = quadratic_assignment(traffic, away, method=method, options=options).col_ind
        best = min(best, cost_of(problem, places).total)
    return best
