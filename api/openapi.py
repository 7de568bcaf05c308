"""The OpenAPI document: what FastAPI says of the routes, the models of requests, and how a key is sent."""

from collections.abc import Sequence

from fastapi import FastAPI
from fastapi.encoders import jsonable_encoder

from tiger.api.middleware.keys import OPEN, SCHEMES, Key
from tiger.api.routes.requests import KINDS
from tiger.api.schemas.closed import document_requests


def complete(app: FastAPI, keys: Sequence[Key]) -> None:
    """Have the OpenAPI document of an application hold what FastAPI is not told, as requests are read by other means.

    A key is needed where the operator has set some, and else may be sent.
    """
    plain = app.openapi
    needs: list[dict[str, list[str]]] = [{name: []} for name in SCHEMES]

    def openapi() -> dict[str, object]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        found = plain()
        requests = jsonable_encoder(document_requests(KINDS), exclude_none=True)
        found["components"]["schemas"] = dict(sorted({**found["components"]["schemas"], **requests}.items()))
        found["components"]["securitySchemes"] = SCHEMES
        found["security"] = needs if keys else [*needs, {}]
        for path in OPEN & found["paths"].keys():
            found["paths"][path]["get"]["security"] = []
        return found

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents
