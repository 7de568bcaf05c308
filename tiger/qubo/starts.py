"""Mappings constructed for a sequence of windows to start from: by levels, forward, or by recursive bisection."""

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seeds import derive
from tiger.model.window import Window, fold, whole
from tiger.qubo.decode import repair
from tiger.qubo.encode import COUPLER_LIMIT, coupler_count
from tiger.qubo.ising import Ising, WindowTask
from tiger.qubo.lookahead import assign_level, place_forward
from tiger.qubo.sweeps import Sweeps
from tiger.run.mapping import MappingIncumbent

# This many levels are placed at once, a start for each; a single level is a linear assignment.
SPANS = (1, 2, 3)


def construct_starts(incumbent: MappingIncumbent, ising: Ising, sweeps: Sweeps | None, seed: int) -> None:
    """Offer mappings that are constructed and polished, once a solve; `sweeps` are those of a problem of levels."""
    if not ising.params.starts or incumbent.ended or any(stage.name == "start" for stage in incumbent.stages):
        return
    with incumbent.stage("start") as detail:
        for number in range(ising.params.starts):
            if sweeps is None:
                places = _bisect(incumbent, ising, derive(seed, number))
            else:
                places = _place_levels(incumbent, ising, sweeps, number, derive(seed, number))
            if places is None or incumbent.ended:
                break
            incumbent.offer(places)
            detail["constructed"] = number + 1


def _place_levels(incumbent: MappingIncumbent, ising: Ising, sweeps: Sweeps, number: int, seed: int) -> IntArray | None:
    """Return a mapping made level by level, forward, by number and seed; None if there is none by that number."""
    if number >= len(SPANS):
        return None

    def sample_ahead(window: Window) -> IntArray | None:
        """Return the best sampled mapping of a window in which later levels are absent, None if it is too large."""
        if (
            ising.answers.error
            or coupler_count(window) > COUPLER_LIMIT
            or window.linear.size > ising.params.window_size
        ):
            return None
        sampling = ising.params.window
        tuning = ising.tuning(sampling.rounds, ising.strengths[1])
        task = WindowTask(
            window, incumbent.places, ising.sample, None, sampling, tuning, seed, incumbent.stop, ising.keep
        )
        tuned = task.solve()
        ising.take(tuned)
        return tuned.local

    solve = assign_level if SPANS[number] == 1 else sample_ahead
    places = place_forward(incumbent.problem, incumbent.places, SPANS[number], solve, incumbent.stop)
    return sweeps.improve(places, incumbent.stop)


def _bisect(incumbent: MappingIncumbent, ising: Ising, seed: int) -> IntArray | None:
    """Return a mapping made by halving tasks and nodes together, repaired and polished; None if there is none."""
    if ising.construct is None:
        return None
    constructed = ising.construct(seed, incumbent.stop)
    if constructed is None:
        return None
    window = fold(incumbent.problem, whole(incumbent.problem), incumbent.places)
    bits = np.zeros(window.shape, bool)
    bits[np.arange(len(bits)), window.local(constructed)] = True
    local = repair(window, bits)
    if local is None:
        return None
    return ising.polish(window.place(incumbent.places, local), window.block, incumbent.stop)
