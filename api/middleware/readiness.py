"""Whether the server can take work."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

import structlog
from fastapi import APIRouter, Response
from pydantic import BaseModel

from tiger.api.middleware.problems import Problem, document_problems
from tiger.api.routes import answers

Ready = Callable[[], Awaitable[Mapping[str, bool]]]
# Less than balancers wait for an answer, usually 5 seconds or more.
TIMEOUT_S = 2.0
UNREADY = answers.HEALTH | document_problems({503: "The database or the workers cannot be used; members say which."})


class ReadyBody(BaseModel):
    """Say of the database and the workers that they can be used."""

    database: bool
    workers: bool


def router(ready: Ready) -> APIRouter:
    """Return the route `/readyz`, which asks `ready` and takes an error, or two seconds of silence, for a no."""
    routes = APIRouter(generate_unique_id_function=lambda route: route.name)

    @routes.get("/readyz", summary="Answer 200 while work can be taken", response_model=ReadyBody, responses=UNREADY)
    async def readiness() -> Response | Mapping[str, bool]:
        parts = await _ask(ready)
        return parts if all(parts.values()) else _refuse(parts).response()

    # As load balancers ask.
    routes.add_api_route("/readyz", readiness, methods=["HEAD"], response_model=None, include_in_schema=False)
    return routes


async def _ask(ready: Ready) -> Mapping[str, bool]:
    """Return what can be used; nothing where that is not known."""
    try:
        return await asyncio.wait_for(ready(), TIMEOUT_S)
    except Exception:  # noqa: BLE001 (whatever it is, it is logged and means no)
        structlog.get_logger().exception("readiness unknown")
        return {"database": False, "workers": False}


def _refuse(parts: Mapping[str, bool]) -> Problem:
    """Return the problem of a server that cannot take work yet, or any more."""
    lacking = " and ".join(f"the {part}" for part, good in parts.items() if not good)
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE, f"The server cannot use {lacking}.", headers={"Retry-After": "1"}, members=parts
    )
