"""Whether the server can take work: as a whole, and part by part, as Kubernetes' own `/readyz/etcd`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Literal, NamedTuple

import structlog
from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field

from tiger.api.middleware.parameters import refuse_unknown_parameters
from tiger.api.middleware.problems import Problem, document_problems
from tiger.api.routes import answers

# Return whether a part of the server can be used.
Ready = Callable[[], Awaitable[bool]]
State = Literal["available", "limited", "unavailable"]
# Less than balancers wait for an answer, usually 5 seconds or more.
TIMEOUT_S = 2.0
UNREADY = answers.HEALTH | document_problems({503: "The database or the workers cannot be used; members say which."})
LOG = structlog.get_logger()


class Needs(NamedTuple):
    """Say without which parts a route does nothing, and without which it does less, but nothing without all."""

    always: frozenset[str] = frozenset()
    mostly: frozenset[str] = frozenset()


DATABASE, WORKERS = frozenset(("database",)), frozenset(("workers",))
# Little work is answered at once by the workers, and any other is stored as a job, which workers may do later.
WORK = Needs(mostly=DATABASE | WORKERS)
NEEDS: Mapping[str, Needs] = {
    **dict.fromkeys(("/assign", "/place", "/plan", "/experts"), WORK),
    "/views": Needs(WORKERS),
    **dict.fromkeys(("/jobs", "/comparisons", "/uploads", "/webhooks", "/usage"), Needs(DATABASE)),
    "/rebalancers": Needs(DATABASE, WORKERS),
}


class ReadyBody(BaseModel):
    """Say that the database and the workers can be used, and so all routes."""

    database: bool
    workers: bool
    routes: dict[str, State] = Field(
        description="What each route does: all, less (small solves at once without the database, stored jobs without "
        "the workers), or nothing."
    )


def router(parts: Mapping[str, Ready]) -> APIRouter:
    """Return the route `/readyz`, which asks all parts, and one for each part, as `/readyz/workers`.

    Every part is asked on its own; an error, or two seconds of silence, is taken for a no.
    """
    routes = APIRouter(
        dependencies=[Depends(refuse_unknown_parameters)], generate_unique_id_function=lambda route: route.name
    )
    everything = partial(_answer_whole, parts)
    _add(routes, "/readyz", everything, "Answer 200 while all work can be taken", ReadyBody)
    for part, ready in parts.items():
        about = f"Answer 200 while the {part} can be used, whatever else is lost"
        _add(routes, f"/readyz/{part}", partial(_answer_part, part, ready), about, dict[str, bool])
    return routes


def _add(
    routes: APIRouter,
    path: str,
    answer: Callable[[], Awaitable[Response | Mapping[str, object]]],
    about: str,
    model: object,
) -> None:
    """Add a route, and its twin without a body, as load balancers ask."""

    async def readiness() -> Response | Mapping[str, object]:
        return await answer()

    name = path.strip("/").replace("/", "_")
    routes.add_api_route(path, readiness, summary=about, response_model=model, responses=UNREADY, name=name)
    routes.add_api_route(path, readiness, methods=["HEAD"], response_model=None, include_in_schema=False)


async def _answer_whole(parts: Mapping[str, Ready]) -> Response | Mapping[str, object]:
    """Answer what can be used, as a problem where something cannot."""
    found = await asyncio.gather(*(_ask(part, ready) for part, ready in parts.items()))
    states = dict(zip(parts, found, strict=True))
    members = {**states, "routes": {route: state_of(needs, states) for route, needs in NEEDS.items()}}
    return members if all(found) else _refuse(states, members)


async def _answer_part(part: str, ready: Ready) -> Response | Mapping[str, object]:
    """Answer whether one part can be used."""
    states = {part: await _ask(part, ready)}
    return states if states[part] else _refuse(states, states)


def state_of(needs: Needs, states: Mapping[str, bool]) -> State:
    """Return what a route does where some parts cannot be used."""
    used = needs.always | needs.mostly
    lacking = {part for part in used if not states[part]}
    if lacking & needs.always or lacking == used:
        return "unavailable"
    return "limited" if lacking else "available"


async def _ask(part: str, ready: Ready) -> bool:
    """Return whether a part can be used; not where that is not known in time."""
    try:
        return await asyncio.wait_for(ready(), TIMEOUT_S)
    except Exception as error:
        LOG.warning("readiness unknown", part=part, exc_info=None if isinstance(error, TimeoutError) else error)
        return False


def _refuse(states: Mapping[str, bool], members: Mapping[str, object]) -> Response:
    """Return the problem of a server that cannot use everything yet, or any more."""
    lacking = " and ".join(f"the {part}" for part, good in states.items() if not good)
    detail = f"The server cannot use {lacking}."
    headers = {"Retry-After": "1"}
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers=headers, members=members).response()
