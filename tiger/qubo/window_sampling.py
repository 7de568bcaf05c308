"""Sample a problem window by window: partition, then encode, sample, decode, repair, polish and stitch each block.

A window whose best other mapping is no cheaper has it polished together with what lies around, and the sequence may go
on from there: an iterated local search whose perturbations are samples.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Event

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seeds import derive
from tiger.model.window import Block, fold
from tiger.objectives.cost import cost_of, violations
from tiger.qubo.ising import Ising, WindowTask
from tiger.qubo.params import BATCH
from tiger.qubo.starts import construct_starts
from tiger.qubo.sweeps import Sweeps
from tiger.qubo.tune import Control, Trial, Tuned
from tiger.run.answers import portable
from tiger.run.mapping import MappingIncumbent
from tiger.run.search_stage import Round
from tiger.run.stage import Detail

# Pairs of tasks and nodes around a window that are polished with it. Without them mappings of four problems (nug30,
# tai30a, kra30a, an 8 x 8 stencil on a 4 x 4 x 4 torus, three seeds, effort 8) cost 1 % more.
WIDE = 1 << 16
# The temperature of Metropolis' rule in mean rises of cost: near 0 the four cost the same to 0.1 %, at 3 0.5 % less.
RISE = 1 / 3
# One of every so many windows is set beside random reads, all rounds of it; in each pass another one.
COMPARED, CONTROL = 10, Control(first=0, step=1)


@dataclass(slots=True, kw_only=True)
class SearchState:
    """Hold where a sequence of windows stands: mapping and cost, the penalties' strength, and the odds of partitioners.

    `rise_sum` and `rise_count` sum and count the rises of cost that were proposed, `sweeps` solve single levels exactly
    where the rule has levels; `accepted` and `shares` are of this pass.
    """

    places: IntArray
    cost: float
    odds: FloatArray
    rng: np.random.Generator
    sweeps: Sweeps | None
    strength: float | None
    shares: list[float] = field(default_factory=list)
    accepted: int = 0
    rise_sum: float = 0.0
    rise_count: int = 0

    def step(self, places: IntArray, cost: float) -> None:
        """Go to a proposed mapping if its cost is no higher, or by Metropolis' rule at a third of the mean rise."""
        rise = cost - self.cost
        self.accepted += rise < 0
        if rise > 0:
            self.rise_sum, self.rise_count = self.rise_sum + rise, self.rise_count + 1
        if rise <= 0 or rise < self.rng.exponential(RISE * self.rise_sum / self.rise_count):
            self.places, self.cost = places, cost


def sample_windows(incumbent: MappingIncumbent, ising: Ising, this_round: Round) -> None:
    """Improve a mapping by passes over the windows of partitions, each with everything outside folded into biases."""
    problem, passes = incumbent.problem, ising.params.passes * this_round.effort
    if incumbent.ended or ising.answers.error or not len(problem.free):
        return
    sweeps = Sweeps(problem) if problem.rule == "levels" else None
    construct_starts(incumbent, ising, sweeps, this_round.seed)
    state = SearchState(
        places=incumbent.places,
        cost=incumbent.cost,
        odds=np.ones(len(ising.partitioners)),
        rng=np.random.default_rng(derive(this_round.seed, passes)),
        sweeps=sweeps,
        strength=ising.strengths[1],
    )
    for number in range(passes):
        if not incumbent.ended and not ising.answers.error:
            with incumbent.stage("windows", number / passes) as detail:
                detail |= _sample_pass(incumbent, ising, state, number, derive(this_round.seed, number))


def _sample_pass(
    incumbent: MappingIncumbent, ising: Ising, state: SearchState, number: int, seed: int
) -> dict[str, Detail]:
    """Solve the windows of one pass, by number and seed, and return its figures.

    Windows that do not touch each other are solved at once.
    """
    problem, params = incumbent.problem, ising.params
    odds = state.odds / state.odds.sum()
    # The first pass goes along the traffic, where the fewest windows touch, if many can be out at once. Elsewhere that
    # gains nothing, and makes sko100a 0.1 % dearer after 20 s of neal (three seeds).
    drawn = 0 if ising.concurrent and number == 0 else int(np.random.default_rng(seed).choice(len(odds), p=odds))
    # Even and odd seeds go over levels forward and backward.
    split_seed = 2 * derive(seed, 0) + number % 2
    partitioner = ising.partitioners[drawn]
    blocks = partitioner.split(problem, state.places, max_size=params.window_size, seed=split_seed)
    last: Trial | None = None
    state.shares, state.accepted, count = [], 0, 0
    for batch in _batches(problem, islice(blocks, params.windows)):
        if incumbent.ended or ising.answers.error:
            break
        numbers = range(count, count + len(batch))
        tasks = [
            _window_task(
                incumbent, ising, state, block, derive(seed, k), CONTROL if (number + k) % COMPARED == 0 else None
            )
            for k, block in zip(numbers, batch, strict=True)
        ]
        count += len(batch)
        solved = _solve(ising, tasks)
        ising.take(*(tuned for tuned in solved if tuned is not None))
        for task, tuned in zip(tasks, solved, strict=True):
            if tuned is not None and tuned.trials:
                last = tuned.trials[-1]
                _stitch(incumbent, ising, state, task, tuned)
    state.odds[drawn] = 0.8 * state.odds[drawn] + 0.2 * (0.1 + state.accepted / max(count, 1))
    return {
        "windows": count,
        "accepted": state.accepted,
        "penalty_strength": state.strength,
        "feasible_share": float(np.mean(state.shares)) if state.shares else 0.0,
        **(_figures(last) if last else {}),
    }


def _solve(ising: Ising, tasks: list[WindowTask]) -> list[Tuned | None]:
    """Return what is found on windows that do not touch, the same however many are out at once.

    Once time is up or a sampler has failed, those that are not yet out stay so: None.
    """
    if ising.executor is not None:
        return list(ising.executor.map(_solve_elsewhere, tasks))
    ended = Event()

    def solve(task: WindowTask) -> Tuned | None:
        """Return what is found on one window."""
        if ended.is_set() or task.stop():
            return None
        failed = True
        try:
            tuned = task.solve()
            failed = tuned.error is not None
        finally:
            if failed:
                ended.set()
        return tuned

    if ising.in_flight == 1:
        return [solve(task) for task in tasks]
    with ThreadPoolExecutor(ising.in_flight) as pool:
        return list(pool.map(solve, tasks))


def _solve_elsewhere(task: WindowTask) -> Tuned | None:
    """Return what is found on a window in a worker, from which any error can be sent; None once time is up."""
    if task.stop():
        return None
    tuned = task.solve()
    return tuned if tuned.error is None else replace(tuned, error=portable(tuned.error))


def _window_task(
    incumbent: MappingIncumbent, ising: Ising, state: SearchState, block: Block, seed: int, control: Control | None
) -> WindowTask:
    """Return the work on a block, away from the mapping that is known, by seed, beside random reads or not."""
    places, sampling = state.places, ising.params.window
    window = fold(incumbent.problem, _follow_tasks(block, places, ising.params.window_size), places)
    tuning = ising.tuning(sampling.rounds, state.strength, control)
    tuning = replace(tuning, target=incumbent.target, avoid=window.local(places))
    return WindowTask(window, places, ising.sample, ising.polish, sampling, tuning, seed, incumbent.stop, ising.keep)


def _stitch(incumbent: MappingIncumbent, ising: Ising, state: SearchState, task: WindowTask, tuned: Tuned) -> None:
    """Put a window's answer into the mapping and propose that, polished with its neighbours if it costs more."""
    problem = incumbent.problem
    state.strength = tuned.strength if state.strength else None
    state.shares.append(tuned.trials[-1].feasible_share)
    if tuned.local is None:
        return
    places = task.window.place(state.places, tuned.local)
    if state.places is not task.places and violations(problem, places):
        # Polish of another window of the batch reached over to this one.
        return
    cost = cost_of(problem, places).total
    if cost >= state.cost:
        places = ising.polish(places, _widen(problem, task.window.block, places), incumbent.stop)
        if state.sweeps is not None:
            places = state.sweeps.improve(places, incumbent.stop)
        cost = cost_of(problem, places).total
    state.step(places, cost)
    incumbent.offer(places)


def _batches(problem: Problem, blocks: Iterable[Block]) -> list[list[Block]]:
    """Return the blocks in batches, none too large, that share no node and exchange no traffic.

    So their gains add up, and they are solved at once. Each goes to the first batch where it fits; those of levels stay
    in their order, in which each builds on the one before.
    """
    batches: list[list[Block]] = []
    near: list[BoolArray] = []
    taken: list[BoolArray] = []
    for block in blocks:
        first = max(len(batches) - 1, 0) if problem.rule == "levels" else 0
        fitting = (
            number
            for number in range(first, len(batches))
            if len(batches[number]) < BATCH
            and not near[number][block.tasks].any()
            and not taken[number][block.nodes].any()
        )
        number = next(fitting, len(batches))
        if number == len(batches):
            batches.append([])
            near.append(np.zeros(problem.tasks.size, bool))
            taken.append(np.zeros(problem.topology.size, bool))
        batches[number].append(block)
        near[number] |= _mark_touched(problem, block.tasks)
        taken[number][block.nodes] = True
    return batches


def _mark_touched(problem: Problem, tasks: IntArray) -> BoolArray:
    """Return touched[n], the tasks given and all that exchange traffic with them."""
    touched = np.zeros(problem.tasks.size, bool)
    touched[tasks] = True
    for traffic in (problem.tasks.traffic, problem.inflow):
        touched[traffic[tasks].indices] = True
    return touched


def _follow_tasks(block: Block, places: IntArray, limit: int) -> Block:
    """Return a block with the nodes that its tasks have come to occupy, and no more pairs than the limit."""
    own = np.unique(places[block.tasks])
    others = np.setdiff1d(block.nodes, own)[: max(limit // len(block.tasks) - len(own), 0)]
    return Block(tasks=block.tasks, nodes=np.sort(np.concatenate([own, others])))


def _widen(problem: Problem, block: Block, places: IntArray) -> Block:
    """Return a block with all tasks that exchange traffic with its own, and their nodes, where those are not many."""
    touched = _mark_touched(problem, block.tasks)
    tasks = problem.free[touched[problem.free]]
    nodes = np.union1d(places[tasks], block.nodes)
    return Block(tasks=tasks, nodes=nodes) if len(tasks) * len(nodes) <= WIDE else block


def _figures(trial: Trial) -> dict[str, Detail]:
    """Return the sampler's figures of its last window."""
    return {name: value for name, value in trial.figures.items() if name != "beta_range"}
