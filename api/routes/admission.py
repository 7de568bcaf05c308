"""Which requests a service lets in, and which of them are so little work that they are done at once."""

from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.experts import ExpertRequest
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.placement import PlaceRequest, PlanRequest
from tiger.errors import InputError
from tiger.solvers import registry

WorkRequest = AssignRequest | CircuitRequest | PlaceRequest | PlanRequest | ExpertRequest
SMALL_S = 0.25
DWAVE_OFF = "D-Wave solvers are off at this service; its operator can turn them on with TIGER_ENABLE_DWAVE"


def admit(request: WorkRequest, limits: Limits) -> None:
    """Raise InputError for a time limit, a solver or a size that this service does not allow, or an unknown solver."""
    if request.time_limit_s is not None and request.time_limit_s > limits.max_time_s:
        raise InputError("time_limit_s", f"expected at most {limits.max_time_s:g}, got {request.time_limit_s:g}")
    if _solver(request) in registry.DWAVE and not limits.dwave:
        raise InputError("solver", DWAVE_OFF)
    registry.kind_of(_solver(request))
    request.measure(limits)


def is_small(request: WorkRequest) -> bool:
    """Guess from its size, its effort and its time limit whether a request takes a fraction of a second."""
    if _solver(request) in registry.DWAVE:
        return False
    return (request.time_limit_s is not None and request.time_limit_s <= SMALL_S) or request.is_small


def _solver(request: WorkRequest) -> str:
    """Return the name of the solver of a request, of which experts have but one."""
    return "auto" if isinstance(request, ExpertRequest) else request.solver
