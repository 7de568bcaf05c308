"""The work behind `POST /experts`: from a request to the bytes of its answer."""

from collections.abc import Callable

from tiger.api.routes.document import encode
from tiger.api.routes.files import expert_files
from tiger.api.routes.placement import read_cluster
from tiger.api.schemas.closed import take
from tiger.api.schemas.experts import ExpertRequest
from tiger.api.schemas.limits import Limits
from tiger.api.seams.files import Solution
from tiger.errors import InputError
from tiger.expert_maps.params import ExpertOptions, check_options
from tiger.model.options import narrow
from tiger.run.progress import Progress, ignore


def answer(
    request: ExpertRequest, limits: Limits, watch: Callable[[Progress], None] = ignore, _: str | None = None, /
) -> Solution:
    """Place the experts that a request asks for and return the report and drafts of files; raise InputError.

    `watch` is called with its progress; it has no use for an executor. Nothing is ever opened as a file.
    """
    from tiger.expert_maps.arguments import ExpertArguments
    from tiger.expert_maps.entry import report_experts
    from tiger.expert_maps.loads_file import FIELD as LOADS

    limit_s = request.time_limit_s or limits.max_time_s
    options = check_options(narrow(ExpertOptions, request, time_limit_s=limit_s))
    arguments = take(
        ExpertArguments,
        request,
        cluster=read_cluster(request.cluster, limits),
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
