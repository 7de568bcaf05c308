"""Annealing and descent of one mapping on fields, in slices that can be stopped in between."""

import math
from typing import NamedTuple, Protocol

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seams import Stop
from tiger.solvers.annealing import fields as kernels
from tiger.solvers.annealing.fields import DRAWS, CoolingSchedule, Fields, anneal_state
from tiger.solvers.annealing.quadratic import Quadratic

# Work in a call that can't be stopped, about 20 ms.
SLICE = 20_000_000


class Elite(NamedTuple):
    """Hold a mapping as an order of the nodes, and its cost."""

    cost: float
    order: IntArray


class Matrices(Protocol):
    """Hold fields with the smallest gain that counts, and the lowest temperature for single precision."""

    @property
    def fields(self) -> Fields:
        """Return the fields."""

    @property
    def tolerance(self) -> float:
        """Return the smallest gain."""

    @property
    def finest(self) -> float:
        """Return the temperature."""


def anneal_once(
    model: Quadratic, order: IntArray, plan: tuple[float, float, int], rng: np.random.Generator, stop: Stop
) -> Elite:
    """Anneal from an order by the first and last temperature and the work between them, and descend."""
    hot, cold, work = plan
    noise = rng.standard_exponential(DRAWS + len(order), np.float32)
    schedule = CoolingSchedule(cold, math.log(hot / cold), work, model.tolerance, model.finest, noise)
    return descend(model, run_schedule(model, order, schedule, rng, stop), rng, stop)


def descend(model: Quadratic, order: IntArray, rng: np.random.Generator, stop: Stop) -> Elite:
    """Return the local optimum below an order, or as far as it got once `stop` says so."""
    noise = np.zeros(DRAWS + len(order), np.float32)
    endless = CoolingSchedule(0.0, 0.0, np.iinfo(np.int64).max, model.tolerance, model.finest, noise)
    found = run_schedule(model, order, endless, rng, stop)
    return Elite(model.cost(found), found)


def run_schedule(
    model: Matrices, order: IntArray, schedule: CoolingSchedule, rng: np.random.Generator, stop: Stop
) -> IntArray:
    """Return the cheapest order that a schedule sees, in slices so that `stop` is called in between."""
    model.fields.place[:] = order
    kernels.lay_out(model.fields)
    state = anneal_state(order, int(rng.integers(1 << 31)))
    while state.work_done[0] < schedule.work:
        state.pause_at[0] = min(state.work_done[0] + SLICE, schedule.work)
        kernels.anneal(model.fields, schedule, state)
        if stop():
            break
    return state.lowest


def change_sizes(model: Matrices, order: IntArray) -> FloatArray:
    """Return the sizes of all finite cost changes that one swap of an order makes, in no order."""
    model.fields.place[:] = order
    kernels.lay_out(model.fields)
    changes = np.zeros((model.fields.tasks, len(order)))
    kernels.price_all(model.fields, changes)
    sizes: FloatArray = np.abs(changes[np.isfinite(changes)])
    return sizes[sizes > model.tolerance]
