"""The placement of operators on a cluster: what cannot be met, the plain split, the search, and a bound."""

from collections.abc import Callable

import numpy as np

from tiger.pipeline.chain.params import never_stop
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.operators.found import Found
from tiger.pipeline.operators.graph import Operators
from tiger.pipeline.operators.operator_search import MANY, Hunt
from tiger.pipeline.operators.params import OperatorParams
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.coarsening import coarsen
from tiger.pipeline.operators.unmet import find_stage_violations, find_violations
from tiger.run.progress import Progress, ignore


def place_operators(
    operators: Operators,
    cluster: Cluster,
    params: OperatorParams,
    stop: Callable[[], bool] = never_stop,
    watch: Callable[[Progress], None] = ignore,
) -> Found:
    """Place operators on devices; the names in `params` are those of both.

    Same arguments, same placement. What cannot be met is in `violations`.
    """
    at = {name: k for k, name in enumerate(operators.names)} if params.pinned else {}
    index = {name: k for k, name in enumerate(cluster.names)}
    pinned = {at[operator]: index[device] for operator, device in params.pinned.items()}
    terms = Terms.from_operators(operators, cluster, pinned)
    violations = find_violations(operators, cluster, pinned, terms)
    if params.contiguous and not violations:
        violations = find_stage_violations(operators, terms)
    if violations:
        return Found(place=None, violations=violations)
    if params.objective == "throughput" and terms.operators > MANY >= terms.classes:
        # Loads alone do not need operators of a class told apart that send to the same ones.
        terms = coarsen(terms, np.arange(terms.classes))
    hunt = Hunt(terms, params, stop, watch)
    hunt.begin()
    if params.objective != "latency" or params.contiguous or terms.classes > MANY:
        hunt.load()
    if params.objective != "latency":
        hunt.prove()
    if params.objective != "throughput":
        hunt.latency()
    if hunt.place is None and params.objective == "latency":
        hunt.prove()
    return hunt.result()
