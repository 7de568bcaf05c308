"""Checks that implementations of the seams keep what the mapper relies on: `tiger.testing`.

Each raises AssertionError with the broken promise, and returns what it could not check, a sentence for each.
"""

from collections.abc import Mapping
from dataclasses import replace

import dimod
import numpy as np
from dimod.core.sampler import Sampler

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Partitioner, Search
from tiger.objectives.cost import cost_of, violations
from tiger.qubo.penalties import Penalties
from tiger.qubo.tune import Trial, Tuner
from tiger.run.deadline import Deadline
from tiger.solvers.samplers.ocean import Draw, ask

NO_DEADLINE, PAST_DEADLINE = Deadline(None), Deadline(0.0)


def check_search(search: Search, problem: Problem, start: IntArray) -> tuple[str, ...]:
    """Check that a search keeps to feasible mappings, never worsens, repeats itself, and stops at its deadline.

    `start[n]` has to be feasible.
    """
    before, given = cost_of(problem, start).total, start.copy()
    answers = [search.search(problem, start, effort=2, seed=seed, stop=NO_DEADLINE) for seed in (0, 0, 2**31 - 1)]
    answers.append(search.search(problem, start, effort=10**9, seed=0, stop=PAST_DEADLINE))
    for answer in answers:
        _require(not violations(problem, answer.places), "the mapping is feasible")
        _require(cost_of(problem, answer.places).total <= before + 1e-9 * max(1.0, abs(before)), "the cost never rises")
        _require(answer.places is not start, "the answer shares no memory with the start")
    _require(bool((answers[0].places == answers[1].places).all()), "the same seed gives the same mapping")
    _require(bool((start == given).all()), "the start is left as it was")
    same = all((answer.places == start).all() for answer in answers)
    return _list_unchecked({"every answer is the start: no mapping of the search's own was seen": same})


def check_partitioner(
    partitioner: Partitioner, problem: Problem, start: IntArray, max_size: int = 64
) -> tuple[str, ...]:
    """Check that blocks cover the free tasks exactly once, hold their tasks' nodes, and repeat with the seed."""
    several = False
    for seed in range(4):
        blocks = list(partitioner.split(problem, start, max_size=max_size, seed=seed))
        again = list(partitioner.split(problem, start, max_size=max_size, seed=seed))
        several |= len(blocks) > 1
        covered = np.sort(np.concatenate([block.tasks for block in blocks])) if blocks else np.zeros(0, np.int64)
        _require(bool(np.array_equal(covered, problem.free)), "blocks cover the free tasks exactly once")
        same = [
            np.array_equal(a.tasks, b.tasks) and np.array_equal(a.nodes, b.nodes)
            for a, b in zip(blocks, again, strict=False)
        ]
        _require(all(same) and len(blocks) == len(again), "the same seed gives the same blocks")
        for block in blocks:
            _require(bool(np.isin(start[block.tasks], block.nodes).all()), "a block holds its tasks' nodes")
            _require(len(np.unique(block.nodes)) == len(block.nodes), "a block lists a node once")
            size = len(block.tasks) * len(block.nodes)
            _require(size <= max_size or len(block.tasks) == 1, f"a block has at most {max_size} task-node pairs")
    return _list_unchecked({"never more than one block: how a problem is cut was not seen": not several})


def check_sampler(sampler: Sampler) -> tuple[str, ...]:
    """Check that a sampler returns 0/1 samples of every variable, finds the ground state of two, and minds its options.

    Of its `parameters`, `seed` has to give the same samples again, and others for some other seed; `beta_range` has to
    give worse samples when hot; and an `interrupt_function` has to be called.
    """
    bqm = dimod.BinaryQuadraticModel({0: -1.0, 1: -2.0}, {(0, 1): 4.0}, 0.5, dimod.BINARY)
    draw = Draw(reads=8, sweeps=64, seed=3, beta_range=(0.1, 10.0), stop=NO_DEADLINE)
    try:
        samples = ask(sampler, bqm, draw).bits
    except InputError as error:
        raise AssertionError(f"broken promise: samples have a column per variable ({error})") from error
    _require(samples.ndim == 2 and samples.shape[1] == 2 and len(samples) >= 1, "samples have a column per variable")
    _require(set(np.unique(samples).tolist()) <= {0, 1}, "samples are 0 or 1")
    _require(samples[0].tolist() == [0, 1], "the cheapest sample comes first and is the ground state")
    checks = {"seed": _check_seed, "beta_range": _check_temperatures, "interrupt_function": _check_interrupt}
    for name, check in checks.items():
        if name in sampler.parameters:
            check(sampler, draw)
    missing = {
        "takes no seed: not checked that samples can be repeated": "seed",
        "takes no beta_range: not checked what temperatures do": "beta_range",
        "takes no interrupt_function: not checked that it can end before all reads are drawn": "interrupt_function",
    }
    return _list_unchecked({remark: name not in sampler.parameters for remark, name in missing.items()})


def _check_seed(sampler: Sampler, draw: Draw) -> None:
    """Check that samples follow the seed."""
    drawn = [ask(sampler, _halves(), replace(draw, seed=seed)).bits for seed in (3, 3, 4, 5, 2**31 - 1)]
    _require(np.array_equal(drawn[0], drawn[1]), "the same seed gives the same samples")
    _require(any(not np.array_equal(drawn[0], bits) for bits in drawn[2:]), "another seed gives other samples")


def _check_temperatures(sampler: Sampler, draw: Draw) -> None:
    """Check that samples at a temperature far above all energies are worse."""
    bqm = _halves()
    cold, hot = (ask(sampler, bqm, replace(draw, beta_range=betas)).bits for betas in ((0.1, 10.0), (1e-9, 1e-8)))
    means = [float(np.mean(bqm.energies((bits, range(bits.shape[1]))))) for bits in (cold, hot)]
    _require(means[0] < means[1], "samples at a high temperature are worse, where beta_range is listed")


def _check_interrupt(sampler: Sampler, draw: Draw) -> None:
    """Check that the function is called."""
    calls = []

    def stop() -> bool:
        calls.append(True)
        return False

    ask(sampler, _halves(), replace(draw, stop=stop))
    _require(bool(calls), "an interrupt_function that is listed is called")


def _halves() -> dimod.BinaryQuadraticModel:
    """Return a model whose 924 ground states, of energy -36, are all halves of its 12 variables."""
    pairs = {(i, j): 2.0 for i in range(12) for j in range(i)}
    return dimod.BinaryQuadraticModel(dict.fromkeys(range(12), -11.0), pairs, 0.0, dimod.BINARY)


def check_tuner(tuner: Tuner) -> tuple[str, ...]:
    """Check that a tuner is a pure function of what it is given and stays between 0 and the safe bound."""
    proposed = False
    for shares in ((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1.0, 0.0, 1.0, 0.0), (0.5,)):
        penalties = Penalties(one_hot=np.ones(2), exclusive=np.ones(3), capacity=np.ones(3))
        trial: Trial | None = None
        for share in shares:
            trial = Trial(
                penalties=penalties,
                feasible_share=share,
                missed=np.array([1 - share, 0.0]),
                crowded=np.zeros(3),
                raw=None,
                repaired=None,
                polished=None,
                earlier=trial,
            )
            following, again = tuner.next(penalties, trial), tuner.next(penalties, trial)
            if following is None or again is None:
                _require(following is again, "the same trial gives the same answer")
                break
            _require(following.scale == again.scale, "the same trial gives the same answer")
            _require(0 < following.scale <= 1, "penalties stay above 0 and at most at the safe bound")
            penalties, proposed = following, True
    return _list_unchecked({"ends at once: no penalties of its own were seen": not proposed})


def _list_unchecked(remarks: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the remarks that hold."""
    return tuple(remark for remark, holds in remarks.items() if holds)


def _require(kept: bool, promise: str) -> None:  # noqa: FBT001 (a condition, not a mode)
    """Raise AssertionError unless a promise was kept."""
    if not kept:
        raise AssertionError(f"broken promise: {promise}")
