"""What tuning, repair and polish gain over raw simulated annealing, and what peers reach in the same time."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import dimod
import numpy as np
import openjij
from dwave.samplers import SimulatedAnnealingSampler, TabuSampler
from scipy.optimize import quadratic_assignment

from benchmarks.instances import best_found, generate, qaplib
from benchmarks.tabu import Assignment
from tiger.feasibility.start import launch_order
from tiger.mapping.mapper import solve
from tiger.mapping.sampler_policy import draw_bits
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seeds import derive
from tiger.model.window import Window, fold, whole
from tiger.objectives.cost import cost_of
from tiger.qubo.ising import Turn
from tiger.qubo.params import IsingParams, Sampling
from tiger.qubo.tune import Bisection, Fixed, Trial, TuneParams, Tuner, tune
from tiger.solvers import registry

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
    "neal, best of four weights",
    "OpenJij, dimod's weights",
    "tabu, dimod's weights",
    "swap descent",
    "robust tabu, 0.05 s",
)
# Processor time in which plain tabu search finds the optima of the QAPLIB instances here.
BRIEF_S = 0.05
# Weights of constraints in units of the largest bias: dimod's own, and smaller ones.
WEIGHTS = (10.0, 3.0, 1.0, 0.3)


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
    text = [f"{gap:.1f}" if np.isfinite(gap) else "none feasible" for gap in row[:-2]]
    text[4] += f" ({row[-2]:.2f} s)"
    text[5] += f" ({row[-1]:.2f} s)"
    return text


def measure(problem: Problem, best: float) -> FloatArray:
    """Return the mean gaps in per cent over the seeds, and the seconds of `neal` and `auto`.

    What is not drawn in as many reads has the processor time of `neal`, in calls that are not cut short.
    """
    window = fold(problem, whole(problem), launch_order(problem))
    plain = PlainModel(problem)
    rows = []
    for seed in SEEDS:
        begun = time.process_time()
        reports = [solve(problem, solver="neal", seed=seed)]
        spent_s = time.process_time() - begun
        reports.append(solve(problem, solver="auto", seed=seed))
        safe, tuned = (sample_rounds(window, problem, tuner, seed) for tuner in (Fixed(), Bisection()))
        few = READS * ROUNDS // len(WEIGHTS)
        costs = [
            plain.draw(WEIGHTS[0], partial(_anneal, READS * ROUNDS), seed),
            lowest(safe, "raw"),
            lowest(tuned, "raw"),
            lowest(tuned, "polished"),
            *(report.cost for report in reports),
            *(scipy_cost(problem, method, seed, reports[0].seconds) for method in ("2opt", "faq")),
            np.nanmin([plain.draw(weight, partial(_anneal, few), seed) for weight in WEIGHTS]),
            plain.draw_for(spent_s, _anneal_by_openjij, seed),
            plain.draw_for(spent_s, partial(_search_by_tabu, spent_s), seed),
            descend_for(problem, spent_s, seed),
            Assignment(problem, seed, BRIEF_S).robust(),
        ]
        rows.append([*(100 * (cost / best - 1) for cost in costs), *(report.seconds for report in reports)])
    return np.nanmean(rows, axis=0)


def sample_rounds(window: Window, problem: Problem, tuner: Tuner, seed: int) -> tuple[Trial, ...]:
    """Return the rounds of sampling a whole problem with a tuner, every read repaired and polished."""
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


Draw = Callable[[dimod.BinaryQuadraticModel, int], dimod.SampleSet]


class PlainModel:
    """Hold a problem that fills its hardware as a constrained model, which dimod converts with weights of its own."""

    def __init__(self, problem: Problem) -> None:
        size = problem.tasks.size
        self._problem, self._model = problem, dimod.ConstrainedQuadraticModel()
        bits = np.array([[dimod.Binary((t, p)) for p in range(size)] for t in range(size)])
        edges, away = problem.tasks.traffic.tocoo(), problem.metric.between(*np.ogrid[:size, :size])
        objective = dimod.BinaryQuadraticModel(dimod.BINARY)
        objective.add_variables_from({(t, p): 0.0 for t in range(size) for p in range(size)})
        for t, u, volume in zip(edges.row.tolist(), edges.col.tolist(), edges.data.tolist(), strict=True):
            if t != u:
                pairs = [((t, p), (u, q), volume * away[p, q]) for p in range(size) for q in range(size) if p != q]
                objective.add_quadratic_from(pairs)
        self._largest = max(map(abs, objective.quadratic.values()), default=1.0)
        self._model.set_objective(objective)
        for line in (*bits, *bits.T):
            self._model.add_constraint(sum(line) == 1)

    def draw(
        self, weight: float, draw: Callable[[dimod.BinaryQuadraticModel, int], dimod.SampleSet], seed: int
    ) -> float:
        """Return the least cost of the feasible reads of a call, NaN without any; weights are in largest biases."""
        bqm, invert = dimod.cqm_to_bqm(self._model, lagrange_multiplier=weight * self._largest)
        return self._judge(draw(bqm, seed), invert)

    def draw_for(self, limit_s: float, draw: Draw, seed: int) -> float:
        """Return the least cost of calls with dimod's own weights until processor time is up, NaN without any."""
        bqm, invert = dimod.cqm_to_bqm(self._model)
        begun, costs = time.process_time(), list[float]()
        while not costs or time.process_time() - begun < limit_s:
            costs.append(self._judge(draw(bqm, derive(seed, len(costs)) % 2**31), invert))
        return min((cost for cost in costs if np.isfinite(cost)), default=float("nan"))

    def _judge(self, found: dimod.SampleSet, invert: Callable[[dict[object, int]], dict[object, int]]) -> float:
        """Return the least cost of the feasible reads, NaN without any."""
        size = self._problem.tasks.size
        feasible = [sample for sample in map(invert, found.samples()) if self._model.check_feasible(sample)]
        places = [np.array([next(p for p in range(size) if s[t, p]) for t in range(size)]) for s in feasible]
        return min((cost_of(self._problem, place).total for place in places), default=float("nan"))


def _anneal(reads: int, bqm: dimod.BinaryQuadraticModel, seed: int) -> dimod.SampleSet:
    """Draw reads by neal with its own schedule."""
    return SimulatedAnnealingSampler().sample(bqm, num_reads=reads, num_sweeps=SWEEPS, seed=seed)


def _anneal_by_openjij(bqm: dimod.BinaryQuadraticModel, seed: int) -> dimod.SampleSet:
    """Draw a read by OpenJij with its own schedule."""
    return openjij.SASampler().sample(bqm, num_reads=1, num_sweeps=SWEEPS, seed=seed)


def _search_by_tabu(limit_s: float, bqm: dimod.BinaryQuadraticModel, seed: int) -> dimod.SampleSet:
    """Draw a read by tabu search for so long."""
    return TabuSampler().sample(bqm, num_reads=1, timeout=max(int(1000 * limit_s), 1), seed=seed)


def descend_for(problem: Problem, limit_s: float, seed: int) -> float:
    """Return the least cost of descents by best swaps from random mappings until processor time is up."""
    polish, block, rng = registry.polish(problem), whole(problem), np.random.default_rng(seed)
    begun, best = time.process_time(), float("inf")
    while best == float("inf") or time.process_time() - begun < limit_s:
        places = polish(rng.permutation(problem.topology.size)[: problem.tasks.size], block, bool)
        best = min(best, cost_of(problem, places).total)
    return best


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
