"""The plans that a caller has: the one that a search starts from, and the one of a layout, which may not fit."""

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.placement.operators.params import Ranks
from tiger.placement.search.outcome import find_faults
from tiger.placement.search.problem import ChainProblem
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.costs.stage_positions import stage_positions
from tiger.training.layouts.reading import read_layout

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
    plan = problem.make_plan((*cuts, problem.layers.size), _grid(problem, runs))
    fault = next(iter(find_faults(problem.evaluator, plan)), None)
    if fault is not None:
        raise InputError(FIELD, f"expected a plan that the cluster can run, got one that {fault.message}")
    return plan


def plan_layout(problem: ChainProblem) -> Plan | None:
    """Return the plan of a layout, on devices in the order of the cluster, None without one."""
    layout, params = problem.params.layout, problem.params
    if layout is None:
        return None
    shape = (problem.positions, params.copies, params.tensor)
    return problem.make_plan(read_layout(layout, problem.layers), rank_order(shape))


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
    at = stage_positions(problem.line.style, count, count * problem.virtual).tolist()
    if runs != [positions[position] for position in at]:
        what = f"{problem.virtual} stages" if problem.virtual > 1 else "one stage"
        turns = "in turn" if problem.line.style == "loop" else "in turn and back again"
        raise InputError(FIELD, f"expected layers in {what} a device, the devices {turns}, got {len(runs)} stages")
    if count > problem.positions or (params.pipeline is not None and count != params.pipeline):
        raise InputError(FIELD, f"expected a pipeline of {problem.positions} devices in a row, got {count}")
    return np.array([[[index[name] for name in row] for row in ranks] for ranks in positions])
