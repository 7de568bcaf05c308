"""The placement that a search starts from, out of the names of operators and devices."""

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.placement.operators.incumbent import fits
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.params import OperatorParams
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.contiguous import order_stages
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.operators import Operators

FIELD = "start"


def place_start(operators: Operators, cluster: Cluster, terms: Terms, params: OperatorParams) -> IntArray | None:
    """Return the device of every group [C] in the placement to start from, None without one.

    Raises InputError of `start`, with an operator where it is one's, for one that has several devices, for colocated
    operators apart, and for a placement that does not fit.
    """
    if params.start is None:
        return None
    index = {name: k for k, name in enumerate(cluster.names)}
    place = np.full(operators.groups, -1, np.int64)
    for name, group in zip(operators.names, operators.colour.tolist(), strict=True):
        ranks = params.start.ranks[name]
        device = index[ranks[0][0]]
        if ranks != ((cluster.names[device],),):
            raise InputError(f"{FIELD}/{name}", f"expected one device, got {sum(map(len, ranks))}")
        if place[group] not in (-1, device):
            raise InputError(f"{FIELD}/{name}", "expected the device of the operators that it is with, got another")
        place[group] = device
    if not fits(terms, place) or not np.isfinite(np.add(*loads_s(terms, place)).max()):
        raise InputError(FIELD, "expected a placement that fits, got one that breaks a pin, lacks memory or a link")
    return place


def line_of_start(terms: Terms, start: IntArray) -> tuple[int, ...]:
    """Return the devices of a placement in the order of its stages; raise InputError of `start` where it has none."""
    ordered = order_stages(terms, start)
    if ordered is None:
        raise InputError(FIELD, "expected contiguous stages, got edges that run backwards between devices")
    return ordered.devices
