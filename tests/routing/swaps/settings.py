"""Settings of the router, as a record that kernels read."""

from collections.abc import Sequence

from tiger.routing.swaps.frontier import RouterParams
from tiger.solvers.records import allocate_records


def router_params(*values: float) -> Sequence[RouterParams]:
    """Return a record of settings with these values in the order of the fields, and 0 for the others."""
    params = allocate_records(RouterParams)
    for name, value in zip(RouterParams.__annotations__, values, strict=False):
        setattr(params[0], name, value)
    return params
