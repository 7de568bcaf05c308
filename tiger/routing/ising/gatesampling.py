"""Gates as tasks, sampled: windows of levels go through any sampler, with tuned penalties, and what is better stays."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from tiger.model.arrays import BitArray, BoolArray, IntArray
from tiger.model.seams import Stop
from tiger.model.seeds import derive
from tiger.qubo.ising import Ising, Turn
from tiger.qubo.penalties import Penalties
from tiger.qubo.tune import Trial
from tiger.routing.coupling import FAR, IndexArray
from tiger.routing.ising.gatetasks import GateTasks, split_levels
from tiger.routing.ising.gatewindows import GateWindow, build_gate_window, derive_safe_penalties

# Levels of a window, in turn, and the arcs that a gate should have to choose from at least.
SPANS, LEAST_CHOICE = (2, 3), 6


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSamplingParams:
    """Set the sampling: at most `windows` of them a unit of effort, in at most `passes` over the levels."""

    windows: int = 256
    passes: int = 4


def sample_arcs(
    tasks: GateTasks, arc: IndexArray, ising: Ising, params: GateSamplingParams, seed_and_stop: tuple[int, Stop]
) -> IndexArray:
    """Return arcs at most as costly as the feasible `arc[k]`; `ising` is the core's path for a sampler.

    Passes go over windows of two and three levels, forward and backward by turns, none with more variables than the
    sampler takes; a window's answer is taken if all gates together cost no more with it. `seed_and_stop` is a seed
    and when to stop.
    """
    arc, (seed, stop) = arc.copy(), seed_and_stop
    strength = ising.strengths[1]
    for number, gates in enumerate(islice(_windows(tasks, ising, params.passes), params.windows)):
        if stop() or ising.answers.error is not None:
            break
        window = build_gate_window(tasks, gates, arc, ising.params.window_size)
        found, strength = _solve_window(window, ising, strength, derive(seed, number), stop)
        # Choices 0 are the present arcs: equal cost is taken, so that windows drift over plateaus.
        if found is not None and window.cost(found) <= window.cost(np.zeros(len(gates), np.int64)):
            arc[gates] = window.choice[np.arange(len(gates)), found]
    return arc


def _windows(tasks: GateTasks, ising: Ising, passes: int) -> Iterator[IntArray]:
    """Yield the gates of windows: runs of levels, cut where a gate would have fewer than six arcs to choose from."""
    most = max(ising.params.window_size // LEAST_CHOICE, 1)
    for number in range(passes):
        span = SPANS[number // 2 % len(SPANS)]
        found = list(split_levels(tasks.flow.level, span, span // 2 * (number % 2)))
        for run in reversed(found) if number % 2 else found:
            yield from np.array_split(run, -(-len(run) // most))


def _solve_window(
    window: GateWindow, ising: Ising, strength: float | None, seed: int, stop: Stop
) -> tuple[IntArray | None, float | None]:
    """Return the best of a window's choices that differ from the present ones, and the strength for the next window."""
    safe = derive_safe_penalties(window)
    aim = safe.aim or safe
    penalties: Penalties | None = safe if strength is None else aim.scaled(aim.scale * strength)
    best: IntArray | None = None
    trial: Trial | None = None
    for number in range(ising.params.window.rounds):
        # Rounds of tuning: sample, decode the reads, and let the tuner choose the next penalties.
        if penalties is None or (number and stop()):
            break
        model, turn = window.bqm(penalties), Turn(derive(seed, number), stop)
        samples = ising.answers.keep(partial(ising.sample, model, penalties, ising.params.window, turn))
        if samples is None:
            break
        trial, found = _decode_reads(window, samples.bits, penalties, trial)
        ising.answers.samples.add(len(samples.bits), trial.feasible_share, samples.figures)
        if found is not None and (best is None or window.cost(found) < window.cost(best)):
            best = found
        penalties = ising.tuner.next(penalties, trial)
    return best, strength if strength is None or penalties is None else penalties.scale / aim.scale


def _decode_reads(
    window: GateWindow, samples: BitArray, penalties: Penalties, earlier: Trial | None
) -> tuple[Trial, IntArray | None]:
    """Decode and repair every read; return the record of the round and the cheapest choices but the present ones."""
    bits = decode(window, samples)
    missed, overloaded = bits.sum(axis=2) != 1, _find_overloaded(window, bits)
    feasible = ~missed.any(axis=1) & ~overloaded.any(axis=1)
    raw = [window.cost(read.argmax(axis=1)) for read in bits[feasible]]
    # Every read is decoded and repaired, feasible or not: a repaired read may be the best.
    distinct = {read.tobytes(): read for read in bits}.values()
    repaired = [found for read in distinct if (found := repair_choice(window, read)) is not None and found.any()]
    costs = [window.cost(found) for found in repaired]
    trial = Trial(
        penalties=penalties,
        feasible_share=float(feasible.mean()) if len(feasible) else 0.0,
        missed=missed.mean(axis=0),
        crowded=overloaded.mean(axis=0),
        raw=min(raw, default=None),
        repaired=min(costs, default=None),
        polished=min(costs, default=None),
        earlier=earlier,
    )
    return trial, repaired[int(np.argmin(costs))] if costs else None


def decode(window: GateWindow, samples: BitArray) -> BoolArray:
    """Return bits[s, w, r], which arcs the samples choose for the gates."""
    known = window.index >= 0
    bits = np.zeros((len(samples), *window.index.shape), bool)
    bits[:, known] = samples[:, window.index[known]] > 0
    return bits


def _find_overloaded(window: GateWindow, bits: BoolArray) -> BoolArray:
    """Return overloaded[s, N], the device qubits that two gates of a level share."""
    gates, count = bits.shape[1:]
    touches = np.zeros((gates, count, len(window.tasks.arcs.hops)), np.float32)
    every = np.arange(gates)[:, None, None], np.arange(count)[None, :, None]
    touches[(*every, window.tasks.arcs.ends[window.choice])] = 1
    uses = bits.transpose(1, 0, 2) @ touches > 0
    one, two = window.rivals.T
    return np.asarray((uses[one] & uses[two]).any(axis=0))


def repair_choice(window: GateWindow, bits: BoolArray) -> IntArray | None:
    """Return feasible choices that keep the chosen arcs where gates have just one, the others on the cheapest free.

    None where a gate finds none free.
    """
    local, taken = np.zeros(len(bits), np.int64), set[tuple[int, int]]()
    # Chosen arcs come first, then those of least cost to what lies outside.
    wish = np.where(window.index >= 0, window.linear - bits * FAR, np.inf)
    ends, level = window.tasks.arcs.ends[window.choice].tolist(), window.tasks.flow.level[window.gates].tolist()
    # Gates with exactly one chosen arc keep it as far as they can; the others take what is left.
    for gate in np.argsort(bits.sum(axis=1) != 1, kind="stable").tolist():
        for option in np.argsort(wish[gate], kind="stable").tolist():
            visits = {(level[gate], end) for end in ends[gate][option]}
            if np.isfinite(wish[gate, option]) and taken.isdisjoint(visits):
                local[gate] = option
                taken |= visits
                break
        else:
            return None
    return local
