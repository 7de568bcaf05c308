"""How a sampler is put to work on a problem: its sizes and strengths, windows, temperatures and starts."""

from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import cast

import dimod
from dimod.core.sampler import Sampler

from tiger.errors import InputError
from tiger.model.problem import Problem
from tiger.model.seams import Partitioner, Samples
from tiger.partition.levels import LevelWindows
from tiger.partition.windows import TaskWindows
from tiger.qubo.ising import Ising, Turn
from tiger.qubo.params import SIZES, IsingParams, Sampling
from tiger.qubo.penalties import Penalties
from tiger.qubo.tune import Bisection, Fixed
from tiger.solvers import registry
from tiger.solvers.samplers.dwave import QpuSampler, adapt
from tiger.solvers.samplers.ocean import Draw, ask, check_options, needs_tuning
from tiger.solvers.samplers.qpu_time import QpuTime

# Inverse temperatures over the mean one-hot penalty. neal's own range took twice as long, and the mean gap of its reads
# was 2 to 18 points higher on QUBOs of 9 to 20 tasks.
HOT, COLD = 2.0, 15.0
# Cliques of 8 x 8 variables embed into D-Wave's machines with chains of 6 or 7 qubits, those of 12 x 12 with 11 to 14.
# A submission costs far more time than a read, so that there are many of these.
QPU_WIDTH, QPU_READS = 8, 100
# Of safe penalties: between one at which reads are feasible and one at which tabu search stays where it is. Others are
# compared by `python -m benchmarks.vary tiger.mapping.sampler_policy:TABU_STRENGTH 1.5 1 2 --solver tabu`.
TABU_STRENGTH = 1.5
# A read of tabu search takes as long as four or more of neal's. With as many as neal draws, of eight problems of 16 to
# 40 tasks six cost the same, and two 1 and 2 % less, in four times the time (effort 1, two seeds).
TABU_SHARE = 4
# A service that is charged by the call gets whole problems up to so many variables, and few windows a pass.
COSTLY, COSTLY_WINDOWS = 1 << 20, 4
# A window spans two levels or more, so that 512 variables are 22 tasks on 22 nodes; small windows get more passes.
LEVEL_WINDOW, LEVEL_PASSES = 512, 8
# Most free tasks of problems that are bisected for starts, which takes 1 s for 256 tasks that all send to each other,
# 16 s for 1,024, and of problems with windows by nodes. Without a start 264 such tasks on a torus cost 36 % more.
BISECTED = 1024


def ising_of(sampler: Sampler, problem: Problem, params: IsingParams, executor: Executor | None = None) -> Ising:
    """Put the Ising path together for a sampler.

    One that states a limit as `max_variables` gets no larger models, and many reads of each; one that is charged by the
    call and says so by `calls` gets that many a unit of effort; one that says that it is `concurrent` is asked by
    several threads and not by the executor. On a D-Wave machine, alone or under a composed sampler, models are embedded
    as cliques. Raises InputError of `ising/sampler/NAME` for an option that the sampler does not take.
    """
    sampler = adapt(sampler)
    levels = problem.rule == "levels"
    if levels:
        small = params.windows or len(problem.free) * len(problem.topology.hosts) <= params.window_size
        wide, passes = max(params.window_size, LEVEL_WINDOW), params.passes * (1 if small else LEVEL_PASSES)
        params = replace(params, window_size=wide, whole_variables=min(params.whole_variables, wide), passes=passes)
    if _is_tabu(sampler) and params.whole == IsingParams().whole:
        params = replace(params, whole=replace(params.whole, reads=params.whole.reads // TABU_SHARE))
    most = getattr(sampler, "max_variables", None)
    if most is not None:
        size, total = min(params.window_size, QPU_WIDTH**2, most), min(params.whole_variables, most)
        window = replace(params.window, reads=max(params.window.reads, QPU_READS))
        # Slack bits would come on top of the limit, and are the first to suffer from a machine's precision.
        params = replace(params, window_size=size, whole_variables=total, window=window, capacity="slack-free")
    calls = getattr(sampler, "calls", None)
    if calls is not None:
        whole = replace(params.whole, rounds=calls)
        params = replace(params, whole=whole, whole_variables=COSTLY, passes=calls, windows=COSTLY_WINDOWS)
    check_options(sampler, params.sampler)
    params = replace(params, whole=_resize(params.whole, params), window=_resize(params.window, params))
    concurrent = bool(getattr(sampler, "concurrent", False))
    return Ising(
        sample=partial(draw_bits, sampler, params),
        tuner=Bisection() if needs_tuning(sampler) else Fixed(),
        strengths=_strengths(sampler),
        partitioners=(LevelWindows(2), LevelWindows(3)) if levels else _task_windows(problem),
        polish=registry.polish(problem),
        construct=None if levels or len(problem.free) > BISECTED else partial(registry.bisect, problem),
        executor=None if concurrent else executor,
        params=params,
        concurrent=concurrent,
        in_flight=params.in_flight if concurrent else 1,
    )


def _resize(sampling: Sampling, params: IsingParams) -> Sampling:
    """Return sizes with those that are among the options of the sampler."""
    sizes = {SIZES[name]: cast(int, count) for name, count in params.sampler.items() if name in SIZES}
    return replace(sampling, **sizes)


def _strengths(sampler: Sampler) -> tuple[float | None, float | None]:
    """Return at what strength of the penalties a sampler starts, on the whole problem and on windows.

    Tabu search finds better mappings at a strength of its own, tuned samplers walk from the safe bound, and others, of
    which nothing is known, stay there.
    """
    if _is_tabu(sampler):
        return TABU_STRENGTH, TABU_STRENGTH
    return (None, 1.0) if needs_tuning(sampler) else (None, None)


def _is_tabu(sampler: Sampler) -> bool:
    """Return whether a sampler is D-Wave's tabu search."""
    return type(sampler).__name__ == "TabuSampler"


def _task_windows(problem: Problem) -> tuple[Partitioner, ...]:
    """Return windows of every kind that the size of the problem allows."""
    kinds = [TaskWindows(order_by="traffic"), TaskWindows(order_by="cost"), TaskWindows(order_by="none")]
    return (*kinds, TaskWindows(order_by="nodes")) if len(problem.free) <= BISECTED else tuple(kinds)


def limit(sampler: Sampler, params: IsingParams) -> Sampler:
    """Return a sampler within what may be asked of a D-Wave QPU; raise InputError where it is another."""
    sampler = adapt(sampler)
    if isinstance(sampler, QpuSampler):
        budget = None if params.qpu_time_s is None else QpuTime(params.qpu_time_s)
        return sampler.limit(budget, dry=params.dry_run)
    for name, asked in (("qpu_time_s", params.qpu_time_s is not None), ("dry_run", params.dry_run)):
        if asked:
            raise InputError(
                f"ising/{name}", f"expected a D-Wave QPU as solver beside it, got {type(sampler).__name__}"
            )
    return sampler


def draw_bits(
    sampler: Sampler,
    params: IsingParams,
    bqm: dimod.BinaryQuadraticModel,
    penalties: Penalties,
    sampling: Sampling,
    turn: Turn,
) -> Samples:
    """Draw bits; without a range given from temperatures of half the mean one-hot penalty to a fifteenth of it."""
    level = float(penalties.one_hot.mean())
    draw = Draw(
        reads=sampling.reads,
        sweeps=sampling.sweeps,
        seed=turn.seed,
        beta_range=params.beta_range or (HOT / level, COLD / level),
        stop=turn.stop,
        options={name: value for name, value in params.sampler.items() if name not in SIZES},
        start=turn.start,
    )
    return ask(sampler, bqm, draw)
