"""The REST service: `create_app` builds it, and nothing happens at import."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi_offline import FastAPIOffline
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tiger import __version__
from tiger.api import assignment, body, placement, problems
from tiger.api.examples import EXAMPLES, PLACEMENTS
from tiger.api.limits import Limits
from tiger.api.log import RequestLog
from tiger.api.pipelines import PlacementBody, PlaceRequest
from tiger.api.schemas import (
    Answer,
    AssignRequest,
    CircuitRequest,
    HealthBody,
    SolverBody,
    SolversBody,
    TopologiesBody,
    TopologyBody,
)
from tiger.api.settings import Settings, load
from tiger.api.workers import SolverLostError, Workers
from tiger.errors import InputError

GRACE_S = 10.0
REQUESTS = [request.model_json_schema() for request in (AssignRequest, CircuitRequest)]
REQUEST = {"schema": {"oneOf": REQUESTS}, "examples": EXAMPLES}
PLACE_REQUEST = {"schema": PlaceRequest.model_json_schema(), "examples": PLACEMENTS}
REFUSALS = problems.documented(
    {
        400: "The body is not strict JSON in UTF-8.",
        413: "The body is too large.",
        415: "The content type is not application/json.",
        422: "A field is missing, unknown or cannot be used; `errors` points at it.",
        500: "The server failed; its log says why.",
        503: "The solve was ended, or its process died.",
    }
)
HANDLED = (InputError, HTTPException, problems.RefusedError, SolverLostError, ClientDisconnect)


def create_app(settings: Settings | None = None) -> FastAPI:
    """Build the service; without settings they come from the environment, and InputError names a variable at fault."""
    service = Service(settings or load())
    app = FastAPIOffline(
        title="TIGER",
        version=__version__,
        description="Topology-aware assignment of tasks, circuits and networks to hardware, by Ising models and native "
        "search.",
        lifespan=service.lifespan,
        redoc_url=None,
        redirect_slashes=False,
    )
    for kind in HANDLED:
        app.add_exception_handler(kind, problems.answer)
    app.add_middleware(RequestLog)
    app.add_api_route(
        "/assign",
        service.assign,
        methods=["POST"],
        summary="Map tasks onto a topology, or a circuit onto a device",
        response_model=Answer,
        response_description="The report; where nothing feasible exists, `feasible` is false and `violations` say why.",
        responses=REFUSALS,
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": REQUEST}}},
    )
    app.add_api_route(
        "/place",
        service.place,
        methods=["POST"],
        summary="Place the layers of a network on a cluster",
        response_model=PlacementBody,
        response_description="The report; where the cluster cannot hold the network, `feasible` is false and "
        "`violations` say by how much.",
        responses=REFUSALS,
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": PLACE_REQUEST}}},
    )
    app.add_api_route("/solvers", service.solvers, summary="List the solvers")
    app.add_api_route("/topologies", topologies, summary="List the kinds of topology and their specifications")
    app.add_api_route("/healthz", health, summary="Answer as long as the server does")
    return app


class Service:
    """Hold what the routes share: the limits and the workers."""

    def __init__(self, settings: Settings) -> None:
        self.max_body_bytes = settings.max_body_bytes
        self.limits = Limits(
            max_tasks=settings.max_tasks,
            max_time_s=settings.max_time_s,
            max_qubits=settings.max_qubits,
            dwave=settings.enable_dwave,
        )
        self.workers = Workers(settings.workers)

    @asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Keep the workers while the server is up; they warm up while it already answers."""
        self.workers.start()
        try:
            yield
        finally:
            await self.workers.stop()

    async def assign(self, request: Request) -> Response:
        """Solve a mapping problem or route a circuit, and answer with the report, whether it is feasible or not."""
        return await self._solved(request, assignment.check, assignment.answer)

    async def place(self, request: Request) -> Response:
        """Place a network on a cluster, and answer with the report, whether it is feasible or not."""
        return await self._solved(request, placement.check, placement.answer)

    async def solvers(self) -> SolversBody:
        """List the solvers that a request may name."""
        from tiger.solvers.registry import DWAVE, available

        found = [info for info in await asyncio.to_thread(available) if self.limits.dwave or info.name not in DWAVE]
        return SolversBody(solvers=[SolverBody.model_validate(solver, from_attributes=True) for solver in found])

    async def _solved(
        self, request: Request, check: Callable[[bytes, Limits], BaseModel], answer: Callable[[bytes, Limits], bytes]
    ) -> Response:
        """Check a request here, have a worker answer it, and return what it says."""
        asked = await body.read(request, self.max_body_bytes)
        try:
            await asyncio.to_thread(check, asked, self.limits)
        except ValidationError as error:
            raise problems.RefusedError(problems.of_fields(error)) from None
        solving = self.workers.run(self.limits.max_time_s + GRACE_S, answer, asked, self.limits)
        return Response(await _while_connected(request, solving), media_type="application/json")


async def topologies() -> TopologiesBody:
    """List the kinds of topology that a specification may name."""
    from tiger.topologies.spec import KINDS

    return TopologiesBody(topologies=[TopologyBody.model_validate(kind, from_attributes=True) for kind in KINDS])


async def health() -> HealthBody:
    """Say that the server answers."""
    return HealthBody()


async def _while_connected(request: Request, work: Coroutine[None, None, bytes]) -> bytes:
    """Return what the work returns; cancel it and raise ClientDisconnect when the client leaves first."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _gone(request: Request) -> None:
    """Wait until the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
