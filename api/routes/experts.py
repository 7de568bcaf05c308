"""The work behind `POST /experts`: from a request to the bytes of its answer."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from tiger.expert_maps.request import ExpertInputs


def answer(
    request: ExpertRequest, limits: Limits, watch: Callable[[Progress], None] = ignore, _: str | None = None, /
) -> Solution:
    """Place the experts that a request asks for and return the report and drafts of files; raise InputError.

    `watch` is called with its progress; it has no use for an executor. Nothing is ever opened as a file.
    """
    from tiger.expert_maps.account import report_answer
    from tiger.expert_maps.solve import solve_request

    begun = time.perf_counter()
    watch(Progress("reading", None, None))
    inputs = pose(request, limits)
    report = report_answer(inputs, solve_request(inputs, watch), begun)
    return Solution(encode(report), expert_files(report))


def pose(request: ExpertRequest, limits: Limits) -> "ExpertInputs":
    """Return what a request asks for, read and checked; raise InputError that names the field."""
    from tiger.expert_maps.arguments import ExpertArguments
    from tiger.expert_maps.loads_file import FIELD as LOADS
    from tiger.expert_maps.request import read_request

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
        return read_request(arguments, options)
    except InputError as error:
        # Loads are in the field that else has a trace.
        raise InputError(error.field.replace(LOADS, "trace", 1), error.reason) from None
