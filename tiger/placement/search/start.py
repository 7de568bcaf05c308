"""The plan that a search starts from, out of the names of layers and devices."""

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.units import bytes_text
from tiger.placement.operators.params import Ranks
from tiger.placement.search.problem import ChainProblem
from tiger.training.costs.plan import Plan

FIELD = "start"


def plan_start(problem: ChainProblem) -> Plan | None:
    """Return the plan to start from, None without one.

    Raises InputError of `start` for a plan of another shape, and for one that does not fit.
    """
    given = problem.params.start
    if given is None:
        return None
    runs: list[Ranks] = []
    cuts: list[int] = []
    for layer, name in enumerate(problem.layers.names):
        if name in given.begins or not runs or given.ranks[name] != runs[-1]:
            runs.append(given.ranks[name])
            cuts.append(layer)
    plan = Plan(cuts=(*cuts, problem.layers.size), grid=_grid(problem, runs))
    _check_fit(problem, plan)
    return plan


def _grid(problem: ChainProblem, runs: list[Ranks]) -> IntArray:
    """Return the devices [p, d, t] of the positions; raise InputError unless stages follow each other along them."""
    params, index = problem.params, {name: k for k, name in enumerate(problem.cluster.names)}
    positions = list(dict.fromkeys(runs))
    for ranks in positions:
        if (len(ranks), len(ranks[0])) != (params.copies, params.tensor):
            wanted, got = f"{params.data} x {params.context} x {params.tensor}", f"{len(ranks)} x {len(ranks[0])}"
            raise InputError(FIELD, f"expected data x context x tensor = {wanted} devices of every layer, got {got}")
    named = [name for ranks in positions for row in ranks for name in row]
    if len(set(named)) < len(named):
        raise InputError(FIELD, "expected every device at one position of the pipeline, got one at several")
    count = len(positions)
    if len(runs) != count * problem.virtual or any(ranks != positions[k % count] for k, ranks in enumerate(runs)):
        what = f"{problem.virtual} stages" if problem.virtual > 1 else "one stage"
        raise InputError(FIELD, f"expected layers in {what} a device, the devices in turn, got {len(runs)} stages")
    if count > problem.positions or (params.pipeline is not None and count != params.pipeline):
        raise InputError(FIELD, f"expected a pipeline of {problem.positions} devices in a row, got {count}")
    return np.array([[[index[name] for name in row] for row in ranks] for ranks in positions])


def _check_fit(problem: ChainProblem, plan: Plan) -> None:
    """Raise InputError for a plan that breaks a pin, lacks memory or a link, or cannot run the microbatches."""
    if np.isfinite(problem.evaluator.value(plan)):
        return
    expected = "expected a plan that the cluster can run"
    if not problem.evaluator.keeps_pins(plan):
        raise InputError(FIELD, f"{expected}, got one that breaks a pin")
    if not problem.divides(plan.positions):
        raise InputError(FIELD, f"{expected}, got {plan.positions} devices for {problem.microbatches} microbatches")
    lacking = problem.evaluator.excess_bytes(plan)
    what = f"whose devices lack {bytes_text(lacking)} in all" if lacking else "that sends over a link that is not there"
    raise InputError(FIELD, f"{expected}, got one {what}")
