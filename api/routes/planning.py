"""The work behind `POST /plan`: from the bytes of a request to the bytes of its answer."""

from collections.abc import Callable

from tiger.api.routes.assignment import check_limits
from tiger.api.routes.document import encode, parse
from tiger.api.routes.files import placement_files
from tiger.api.routes.placement import read_cluster, read_model
from tiger.api.routes.sharing import share, warn_of_trouble
from tiger.api.schemas.limits import Limits, check_cluster, check_network
from tiger.api.schemas.placement import PlanRequest
from tiger.api.seams.files import Solution
from tiger.model.options import narrow
from tiger.planning.params import PlanOptions
from tiger.run.progress import Progress, ignore


def check(body: bytes, limits: Limits) -> PlanRequest:
    """Return the request that a body states; raise InputError, or pydantic's ValidationError for a type or a bound.

    The model and the cluster inside it are only measured.
    """
    request = PlanRequest.read(parse(body))
    check_limits(limits, request.time_limit_s, request.solver)
    check_network(limits, request.model)
    check_cluster(limits, request.cluster)
    return request


def answer(
    body: bytes, limits: Limits, watch: Callable[[Progress], None] = ignore, executor: str | None = None, /
) -> Solution:
    """Plan what a checked body asks and return the report as strict JSON, with the files of the best plan.

    `watch` is called with its progress. What several islands judge is shared with the Dask cluster at `executor`.
    Neither model nor cluster is ever opened as a file, and both are within the limit of tasks. Raises InputError that
    names the field.
    """
    from tiger.planning import entry
    from tiger.planning.model import model_of_document
    from tiger.planning.request import check_plan_options

    request = check(body, limits)
    limit_s = request.time_limit_s or limits.max_time_s
    options = check_plan_options(narrow(PlanOptions, request, time_limit_s=limit_s))
    model = model_of_document(read_model(request.model, limits), limits.max_tasks)
    cluster = read_cluster(request.cluster, limits)
    shared = share(request, executor)
    report = warn_of_trouble(entry.report_plan(entry.PlanRequest(model, cluster, options, watch, shared)), shared)
    return Solution(encode(report), () if report.placement is None else placement_files(report.placement))
