"""Query parameters: a route takes those that it documents, and refuses any other."""

from http import HTTPStatus
from urllib.parse import quote

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from tiger.api.middleware.problems import FieldError, Problem, RefusedError, excerpt


def refuse_unknown_parameters(request: Request) -> None:
    """Raise RefusedError (422) for a query parameter that the route of a request does not know; pages take any."""
    route = request.scope.get("route")
    if not (request.query_params and isinstance(route, APIRoute) and route.include_in_schema):
        return
    known = _names(route.dependant)
    for name in request.query_params:
        if name not in known:
            listed = f"one of the parameters {', '.join(known)}" if known else "no parameters"
            reason = f"expected {listed}, got {excerpt(name)}"
            pointer = f"#/{quote(name[:80].replace('~', '~0').replace('/', '~1'), safe='~')}"
            problem = Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{pointer}: {reason}", (FieldError(pointer, reason),))
            raise RefusedError(problem)


def _names(dependant: Dependant) -> list[str]:
    """Return the names of the query parameters of a route, those of what it depends on included."""
    own = [parameter.alias for parameter in dependant.query_params]
    return own + [name for other in dependant.dependencies for name in _names(other)]
