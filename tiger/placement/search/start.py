"""The plan that a search starts from, out of the names of layers and devices."""

from itertools import groupby

import numpy as np

from tiger.errors import InputError
from tiger.model.units import bytes_text
from tiger.model.wording import describe
from tiger.placement.search.problem import ChainProblem
from tiger.training.costs.plan import Plan

FIELD = "start"


def plan_start(problem: ChainProblem) -> Plan | None:
    """Return the plan to start from, None without one.

    Raises InputError of `start`, with a layer where it is one's, for a plan of another model, cluster or shape, and for
    one that does not fit.
    """
    given, layers = problem.params.start, problem.layers.names
    if given is None:
        return None
    known = set(layers)
    for name in given:
        if name not in known:
            raise InputError(FIELD, f"expected layers of the model, got {describe(name)}")
    for name in layers:
        if name not in given:
            raise InputError(FIELD, f"expected devices of every layer, got none of {describe(name)}")
    runs = [(ranks, len(list(run))) for ranks, run in groupby(layers, lambda name: given[name])]
    plan = Plan(
        cuts=(0, *np.cumsum([size for _, size in runs]).tolist()), grid=_grid(problem, [run[0] for run in runs])
    )
    _check_fit(problem, plan)
    return plan


def _grid(problem: ChainProblem, runs: list[tuple[tuple[str, ...], ...]]) -> np.ndarray:
    """Return the devices [p, d, t] of the positions; raise InputError unless stages follow each other along them."""
    params, index = problem.params, {name: k for k, name in enumerate(problem.cluster.names)}
    positions = list(dict.fromkeys(runs))
    for ranks in positions:
        for name in (name for row in ranks for name in row):
            if name not in index:
                raise InputError(FIELD, f"expected devices of the cluster, got {describe(name)}")
        if (len(ranks), len(ranks[0])) != (params.data, params.tensor):
            wanted, got = f"{params.data} x {params.tensor}", f"{len(ranks)} x {len(ranks[0])}"
            raise InputError(FIELD, f"expected data x tensor = {wanted} devices of every layer, got {got}")
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
