"""What the service measures of itself, for Prometheus."""

from fastapi import APIRouter, Depends, Response
from prometheus_client import CONTENT_TYPE_LATEST

from tiger.api.middleware.metrics import Metrics
from tiger.api.middleware.parameters import refuse_unknown_parameters
from tiger.api.routes import answers

TEXT = answers.document_errors() | {
    200: {"description": "The figures, as Prometheus reads them.", "content": {"text/plain": {"schema": answers.TEXT}}}
}


def router(metrics: Metrics) -> APIRouter:
    """Return the route `/metrics`."""
    routes = APIRouter(
        dependencies=[Depends(refuse_unknown_parameters)], generate_unique_id_function=lambda route: route.name
    )

    @routes.get("/metrics", summary="Measure the service, for Prometheus", response_class=Response, responses=TEXT)
    def figures() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return routes
