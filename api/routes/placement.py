"""The work behind `POST /place`: from a request to the bytes of its answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from tiger.api.routes.document import encode
from tiger.api.routes.files import placement_files
from tiger.api.schemas.files import open_document
from tiger.api.schemas.limits import Limits, check_cluster, check_network
from tiger.api.schemas.placement import PlaceRequest
from tiger.api.seams.files import Solution
from tiger.model.options import narrow
from tiger.placement.params import Aim, PlaceParams
from tiger.run.progress import Progress, ignore

if TYPE_CHECKING:
    from tiger.placement.entry.report import PlacementReport
    from tiger.placement.entry.request import ChainRequest, OperatorRequest
    from tiger.placement.operators.params import OperatorParams
    from tiger.training.hardware.cluster import Cluster


def answer(
    request: PlaceRequest, limits: Limits, watch: Callable[[Progress], None] = ignore, _: str | None = None, /
) -> Solution:
    """Place what a request asks and return the report and drafts of files; raise InputError that names the field.

    `watch` is called with its progress; it has no use for an executor. Neither model nor cluster is ever opened
    as a file, and both are within the limit of tasks.
    """
    from tiger.placement.entry import operators, place
    from tiger.placement.entry.request import OperatorRequest

    posed = pose(request, limits, watch)
    if isinstance(posed, OperatorRequest):
        return _deliver(operators.report_placement(posed))
    return _deliver(place.report_placement(posed))


def _deliver(report: "PlacementReport") -> Solution:
    """Return a report with the files that it leaves."""
    return Solution(encode(report), placement_files(report))


def pose(
    request: PlaceRequest, limits: Limits, watch: Callable[[Progress], None] = ignore
) -> "ChainRequest | OperatorRequest":
    """Return the placement that a request asks for, of layers or of operators; raise InputError."""
    from tiger.placement.entry import operators
    from tiger.placement.entry.request import OperatorRequest, check_no_costs
    from tiger.placement.operators.params import OperatorParams
    from tiger.training.models.graphs import operators_of_document

    params = check_params(request, limits)
    if not isinstance(params, OperatorParams):
        return pair_chain(request, params, limits, watch)
    check_no_costs(request.costs)
    stated = operators_of_document(read_model(request.model, limits), limits.max_tasks)
    graph, devices = operators.pair_with_cluster(*stated, _cluster(request, limits), limits.max_tasks)
    return OperatorRequest(graph, devices, params, watch)


def check_params(request: PlaceRequest, limits: Limits) -> "PlaceParams | OperatorParams":
    """Return the options of a request, which say whether its model is one of operators; raise InputError of a field."""
    from tiger.placement.entry.request import check_request
    from tiger.placement.entry.start import read_start

    limit_s = request.time_limit_s or limits.max_time_s
    params = narrow(PlaceParams, request, start=read_start(request.start), time_limit_s=limit_s)
    return check_request(params, narrow(Aim, request))


def pair_chain(
    request: PlaceRequest, params: PlaceParams, limits: Limits, watch: Callable[[Progress], None] = ignore
) -> "ChainRequest":
    """Return the layers and the devices of a request, within the limits; raise InputError that names the field."""
    from tiger.placement.entry import place
    from tiger.training.models.sizes import model_of_document
    from tiger.training.sources import require_cluster
    from tiger.training.timings.costs import source_of_document

    chain = model_of_document(read_model(request.model, limits), limits.max_tasks, params.serve)
    cluster = require_cluster(_cluster(request, limits))
    return place.pair_chain(chain, cluster, params, source_of_document(request.costs), watch)


def read_model(stated: object, limits: Limits) -> object:
    """Return a model as a document within the limits; raise InputError of `model`."""
    document = open_document("model", stated)
    check_network(limits, document)
    return document


def read_cluster(stated: object, limits: Limits) -> "Cluster":
    """Return the cluster that a request states, within the limits; raise InputError of `cluster` or below."""
    from tiger.training.hardware.reading import cluster_of_document

    document = open_document("cluster", stated)
    check_cluster(limits, document)
    return cluster_of_document(document, limits.max_tasks)


def _cluster(request: PlaceRequest, limits: Limits) -> "Cluster | None":
    """Return the cluster of a request, None where it states none."""
    return None if request.cluster is None else read_cluster(request.cluster, limits)
