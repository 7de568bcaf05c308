"""The work behind `POST /place`: from the bytes of a request to the bytes of its answer."""

import json
from collections.abc import Callable

from tiger.api.assignment import check_limits
from tiger.api.document import parse
from tiger.api.limits import Limits, check_cluster, check_network
from tiger.api.pipelines import PlaceRequest
from tiger.pipeline.params import PlaceParams
from tiger.progress import Progress, ignored


def check(body: bytes, limits: Limits) -> PlaceRequest:
    """Return the request that a body states; raise InputError, or pydantic's ValidationError for a type or a bound.

    The model and the cluster inside it are only measured.
    """
    request = PlaceRequest.model_validate(parse(body))
    check_limits(limits, request.time_limit_s, request.solver)
    check_network(limits, request.model)
    check_cluster(limits, request.cluster)
    return request


def answer(body: bytes, limits: Limits, watch: Callable[[Progress], None] = ignored, _: str | None = None, /) -> bytes:
    """Place what a checked body asks and return the report as strict JSON; raise InputError that names the field.

    `watch` is told how far the search has come; no executor is of use to it. Neither model nor cluster is ever opened
    as a file, and both are within the limit of tasks.
    """
    from tiger.pipeline.doors.door import answered
    from tiger.pipeline.doors.request import Asked, checked
    from tiger.pipeline.hardware.reading import cluster_of_document
    from tiger.pipeline.models.reading import model_of_document

    request = check(body, limits)
    params = checked(
        PlaceParams(
            schedule=request.schedule,
            microbatches=request.microbatches,
            virtual=request.virtual,
            pipeline=request.pipeline,
            tensor=request.tensor,
            data=request.data,
            pinned=request.pinned,
            solver=request.solver,
            seed=request.seed,
            effort=request.effort,
            time_limit_s=request.time_limit_s or limits.max_time_s,
        ),
        request.mode,
    )
    layers = model_of_document(request.model, limits.max_tasks)
    cluster = cluster_of_document(request.cluster, limits.max_tasks)
    return json.dumps(answered(Asked(layers, cluster, params, watch)).to_dict(), allow_nan=False).encode()
