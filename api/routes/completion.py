"""Reports that came as JSON, made into those that a local run returns by the requests that they answer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pydantic import ValidationError

from tiger.api.routes import assignment, placement, planning
from tiger.api.routes.admission import WorkRequest
from tiger.api.routes.document import parse
from tiger.api.routes.entries import ENTRIES, Entry
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.placement import PlaceRequest, PlanRequest
from tiger.api.schemas.uploads import put_texts
from tiger.api.seams.upload import NO_UPLOADS, UploadText
from tiger.errors import InputError
from tiger.mapping.attachment import FIELD, attach_problem
from tiger.placement.entry.report import PlacementReport
from tiger.planning.report import PlanReport
from tiger.run.report import Report

if TYPE_CHECKING:
    from tiger.circuits.entry.report import CircuitReport
    from tiger.expert_maps.report import ExpertReport

    AnyReport = Report | CircuitReport | PlacementReport | PlanReport | ExpertReport

# The kind of request that a report answers, by its schema.
KINDS = {
    "tiger.report/1": "assign",
    "tiger.circuit/1": "assign",
    "tiger.placement/1": "place",
    "tiger.plan/1": "plan",
    "tiger.experts/1": "experts",
}
OTHER = "expected a report of the request beside it, got one of another"


def complete(
    report: "AnyReport", body: bytes, limits: Limits, uploads: Mapping[str, UploadText] = NO_UPLOADS
) -> "AnyReport":
    """Return a report with what no JSON carries, built from the body of its request and not solved again.

    `uploads` are those that the body refers to.
    Reports of circuits and of experts lack nothing that is emitted. Raises InputError of `report` where it is one of
    another request, and InputError as the request itself is refused.
    """
    request = _read(ENTRIES[KINDS[report.schema]], body, uploads)
    request.measure(limits)
    match report, request:
        case Report(), AssignRequest():
            return attach_problem(report, assignment.share_problem(request, limits), request.routing)
        case PlacementReport(), PlaceRequest():
            return _complete_placement(report, request, limits)
        case PlanReport(), PlanRequest():
            return _complete_plan(report, request, limits)
        case Report(), _:
            raise InputError(FIELD, OTHER)
    return report


def _read(entry: Entry, body: bytes, uploads: Mapping[str, UploadText]) -> WorkRequest:
    """Return the request of a body; raise InputError of a field below `request`, which an earlier version may allow."""
    try:
        return entry.read(put_texts(body, parse(body), uploads))
    except ValidationError as error:
        # Loaded for a fault alone, as it takes the web framework along.
        from tiger.api.middleware.problems import first_fault

        fault = first_fault(error)
        raise InputError("/".join(filter(None, ("request", fault.field))), fault.reason) from None


def _complete_placement(report: PlacementReport, request: PlaceRequest, limits: Limits) -> PlacementReport:
    """Return a placement with its plan; one of operators, of which nothing is emitted, stays as it is."""
    from tiger.placement.entry.remote import add_deployments
    from tiger.placement.operators.params import OperatorParams

    params = placement.check_params(request, limits)
    if isinstance(params, OperatorParams):
        return report
    chain = placement.pair_chain(request, params, limits)
    found = add_deployments(report, chain.layers, chain.cluster)
    if found.stages and found.deployment is None:
        raise InputError(FIELD, OTHER)
    return found


def _complete_plan(report: PlanReport, request: PlanRequest, limits: Limits) -> PlanReport:
    """Return a plan with its placement as it is emitted."""
    from tiger.planning.remote import add_deployment

    options = planning.check_options(request, limits)
    found = add_deployment(report, *planning.pair_model(request, options, limits), options)
    if found.placement is not None and found.placement.deployment is None:
        raise InputError(FIELD, OTHER)
    return found
