"""The work behind `POST /experts`: from the bytes of a request to the bytes of its answer."""

from collections.abc import Callable

from tiger.api.jobs.files import Solution
from tiger.api.routes.assignment import check_limits
from tiger.api.routes.document import encode, parse
from tiger.api.routes.files import expert_files
from tiger.api.routes.placement import read_cluster
from tiger.api.schemas.experts import ExpertRequest, check_experts
from tiger.api.schemas.limits import Limits, check_cluster
from tiger.errors import InputError
from tiger.model.options import narrow
from tiger.pipeline.experts.params import ExpertOptions, check_options
from tiger.run.progress import Progress, ignore


def check(body: bytes, limits: Limits) -> ExpertRequest:
    """Return the request that a body states; raise InputError, or pydantic's ValidationError for a type or a bound.

    Numbers and the cluster inside it are only counted.
    """
    request = ExpertRequest.read(parse(body))
    check_limits(limits, request.time_limit_s, "auto")
    check_cluster(limits, request.cluster)
    check_experts(limits, request)
    return request


def answer(
    body: bytes, limits: Limits, watch: Callable[[Progress], None] = ignore, _: str | None = None, /
) -> Solution:
    """Place the experts that a checked body asks for and return the report and drafts of files; raise InputError.

    `watch` is called with its progress; it has no use for an executor. Nothing is ever opened as a file.
    """
    from tiger.pipeline.experts.arguments import ExpertArguments
    from tiger.pipeline.experts.entry import report_experts
    from tiger.pipeline.experts.loads_file import FIELD as LOADS
    from tiger.pipeline.experts.request import array_of_rows

    request = check(body, limits)
    limit_s = request.time_limit_s or limits.max_time_s
    options = check_options(narrow(ExpertOptions, request, time_limit_s=limit_s))
    arguments = narrow(
        ExpertArguments,
        options,
        trace=array_of_rows("trace", request.trace),
        cluster=read_cluster(request.cluster, limits),
        in_use=None if request.in_use is None else array_of_rows("in_use", request.in_use),
        node_topology=None,
        bandwidths=None,
        labels=None,
    )
    try:
        report = report_experts(arguments, options, watch)
    except InputError as error:
        # Loads are in the field that else has a trace.
        raise InputError(error.field.replace(LOADS, "trace", 1), error.reason) from None
    return Solution(encode(report), expert_files(report))
