"""What the OpenAPI document says of the bodies and the headers of requests, with worked examples."""

from collections.abc import Mapping, Sequence

from tiger.api.routes import answers, examples
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.closed import Closed, refer
from tiger.api.schemas.comparisons import ComparisonRequest
from tiger.api.schemas.experts import ExpertRequest
from tiger.api.schemas.placement import PlaceRequest, PlanRequest
from tiger.api.schemas.rebalancers import RebalancerRequest, StepRequest
from tiger.api.schemas.replanning import ReplanRequest
from tiger.api.schemas.views import ViewRequest

KINDS: list[type[Closed]] = [
    *(AssignRequest, CircuitRequest, PlaceRequest, PlanRequest, ExpertRequest),
    *(ViewRequest, RebalancerRequest, StepRequest, ComparisonRequest, ReplanRequest),
]


def _document(
    schema: Mapping[str, object], worked: Mapping[str, object], parameters: Sequence[object] = answers.PARAMETERS
) -> dict[str, object]:
    """Document the body and the headers of a request."""
    body = {"required": True, "content": {"application/json": {"schema": schema, "examples": worked}}}
    return {"requestBody": body, "parameters": [*parameters]}


ASSIGN = _document({"oneOf": [refer(kind.__name__) for kind in (AssignRequest, CircuitRequest)]}, examples.EXAMPLES)
PLACE = _document(refer(PlaceRequest.__name__), examples.PLACEMENTS)
PLAN = _document(refer(PlanRequest.__name__), examples.PLANS)
EXPERTS = _document(refer(ExpertRequest.__name__), examples.EXPERT_MAPS)
VIEW = _document(refer(ViewRequest.__name__), examples.PREVIEWS, [])
REPLAN = _document(refer(ReplanRequest.__name__), examples.REPLANS)
REBALANCER = _document(refer(RebalancerRequest.__name__), examples.REBALANCERS, answers.REPEATS)
COMPARISON = _document(refer(ComparisonRequest.__name__), examples.COMPARISONS, answers.REPEATS)
STEP = _document(refer(StepRequest.__name__), examples.STEPS, answers.REPEATS)
