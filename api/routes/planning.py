"""The work behind `POST /plan`: from a request to the bytes of its answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tiger.api.routes.document import encode
from tiger.api.routes.files import placement_files
from tiger.api.routes.placement import read_cluster, read_model
from tiger.api.routes.sharing import share, warn_of_trouble
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.placement import PlanRequest
from tiger.api.seams.files import Solution
from tiger.model.options import narrow
from tiger.planning.params import PlanOptions
from tiger.run.progress import Progress, ignore

if TYPE_CHECKING:
    from tiger.training.hardware.cluster import Cluster
    from tiger.training.models.sizes import Model


def answer(
    request: PlanRequest, limits: Limits, watch: Callable[[Progress], None] = ignore, executor: str | None = None, /
) -> Solution:
    """Plan what a request asks and return the report as strict JSON, with the files of the best plan.

    `watch` is called with its progress. What several islands judge is shared with the Dask cluster at `executor`.
    Neither model nor cluster is ever opened as a file, and both are within the limit of tasks. Raises InputError that
    names the field.
    """
    from tiger.planning.answer import PlanInputs, report_plan

    shared = share(request, executor)
    report = warn_of_trouble(report_plan(PlanInputs(*pose(request, limits), watch, shared)), shared)
    return Solution(encode(report), () if report.placement is None else placement_files(report.placement))


def pose(request: PlanRequest, limits: Limits) -> "tuple[Model, Cluster, PlanOptions]":
    """Return model, devices and options of the plans that a request asks for; raise InputError."""
    options = check_options(request, limits)
    return *pair_model(request, options, limits), options


def check_options(request: PlanRequest, limits: Limits) -> PlanOptions:
    """Return the options of a request; raise InputError of a field."""
    from tiger.planning.request import check_plan_options

    limit_s = request.time_limit_s or limits.max_time_s
    return check_plan_options(narrow(PlanOptions, request, time_limit_s=limit_s))


def pair_model(request: PlanRequest, options: PlanOptions, limits: Limits) -> "tuple[Model, Cluster]":
    """Return the model and the cluster of a request, within the limits; raise InputError that names the field."""
    from tiger.training.models.sizes import model_of_document
    from tiger.training.pairing import pair_with_devices
    from tiger.training.timings.costs import source_of_document

    model = model_of_document(read_model(request.model, limits), limits.max_tasks, options.serve)
    cluster = read_cluster(request.cluster, limits)
    return pair_with_devices(model, cluster, source_of_document(request.costs), options)
