"""The REST service: `create_app` builds it, and nothing happens at import."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from fastapi import Depends, FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi_offline import FastAPIOffline

from tiger import __version__
from tiger.api import openapi
from tiger.api.factory import JobsFactory, limits_of, make_durable_jobs
from tiger.api.middleware import audit
from tiger.api.middleware.metrics import Metrics
from tiger.api.middleware.parameters import refuse_unknown_parameters
from tiger.api.pool.processes import Workers, prepare
from tiger.api.routes import answers, requests
from tiger.api.routes.comparisons import ComparisonRoutes, add_comparisons
from tiger.api.routes.emission import add_emission
from tiger.api.routes.entries import ASSIGN, EXPERTS, PLACE, PLAN
from tiger.api.routes.inline import Inline
from tiger.api.routes.jobs import JobRoutes
from tiger.api.routes.page import add_page
from tiger.api.routes.previews import PreviewRoute
from tiger.api.routes.rebalancers import RebalancerRoutes
from tiger.api.routes.replanning import add_replanning
from tiger.api.routes.solving import Bounds, Solving
from tiger.api.routes.terms import Terms, Validate
from tiger.api.routes.uploads import add_uploads
from tiger.api.routes.usage import add_usage
from tiger.api.routes.webhooks import add_webhooks
from tiger.api.schemas.catalogue import HealthBody, SolverBody, SolversBody, TopologiesBody, TopologyBody
from tiger.api.schemas.jobs import JobBody, JobsBody
from tiger.api.schemas.rebalancers import DecisionBody, RebalancerBody
from tiger.api.schemas.validation import AssignAnswer, ExpertAnswer, PlaceAnswer, PlanAnswer
from tiger.api.schemas.views import FileBody, PreviewBody, ViewBody
from tiger.api.settings import Settings, load
from tiger.api.stack import operations, protect

# Processes that answer small requests; more would wait for the event loop.
INLINE_WORKERS = 4
# The niceness of jobs, which leave the processors to requests that a client waits for.
NICE = 5
# Seconds for workers to start, with kernels to compile, and between two looks at whether they are there.
WARM_UP_S, LOOK_S = 600.0, 2.0
LOG = structlog.get_logger()


def create_app(settings: Settings | None = None, make_jobs: JobsFactory = make_durable_jobs) -> FastAPI:
    """Build the service; without settings they come from the environment, and InputError names a variable at fault."""
    used = settings or load()
    metrics = Metrics()
    service = Service(used, make_jobs, metrics)
    app = FastAPIOffline(
        title="TIGER",
        version=__version__,
        description="Topology-aware assignment of tasks, circuits and networks to hardware, by Ising models and native "
        "search.",
        lifespan=service.lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(refuse_unknown_parameters)],
        # What generated clients call an operation.
        generate_unique_id_function=lambda route: route.name,
    )
    app.add_api_route("/docs", show_documentation, include_in_schema=False)
    protect(app, used, metrics, service.jobs.charge)
    add_page(app)
    _add_work(app, service)
    _add_previews(app, PreviewRoute(service.solving))
    jobs = JobRoutes(service.jobs, used.max_wait_s, metrics.count_cancelled)
    _add_jobs(app, jobs)
    _add_files(app, jobs)
    add_emission(app, jobs, service.solving)
    add_uploads(app, service.jobs, used.max_upload_bytes)
    add_replanning(app, service.solving)
    _add_rebalancers(app, RebalancerRoutes(service.solving))
    add_usage(app, service.jobs)
    add_webhooks(app, service.jobs)
    add_comparisons(app, ComparisonRoutes(service.solving, service.jobs))
    app.add_api_route("/solvers", service.solvers, summary="List the solvers", responses=answers.document_errors())
    app.add_api_route(
        "/topologies",
        topologies,
        summary="List the kinds of topology and their specifications",
        responses=answers.document_errors(),
    )
    app.add_api_route("/healthz", health, summary="Answer as long as the server does", responses=answers.HEALTH)
    app.add_api_route("/healthz", health, methods=["HEAD"], include_in_schema=False)
    # Not as a router, which would be one route without methods to those who look for these.
    app.router.routes.extend(
        operations(metrics, {"database": service.jobs.ready, "workers": service.are_workers_ready})
    )
    openapi.complete(app, used.keys)
    return app


class Service:
    """Hold what the routes share: the limits, the jobs, and workers for these and for what is answered at once.

    They do not share them, so that no number of long jobs keeps a small request waiting.
    """

    def __init__(self, settings: Settings, make_jobs: JobsFactory, metrics: Metrics) -> None:
        self.limits = limits_of(settings)
        memory_bytes = settings.max_memory_bytes
        self.workers = Workers(min(settings.workers, INLINE_WORKERS), memory_bytes)
        self.job_workers = Workers(settings.workers, memory_bytes, NICE)
        self.workers.on_result = self.job_workers.on_result = metrics.record_call
        self.jobs = make_jobs(settings, self.job_workers)
        metrics.watch(self.jobs.waiting, self.jobs.count_webhooks)
        self.jobs.on_webhook = metrics.count_webhook
        bounds = Bounds(
            max_body_bytes=settings.max_body_bytes, max_wait_s=settings.max_wait_s, webhooks=settings.webhooks
        )
        self.solving = Solving(Inline(self.workers, self.limits), self.jobs, bounds)

    @asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        """Keep workers and jobs while the server is up; the workers warm up while it already answers."""
        warming = [asyncio.create_task(self._keep_warm(pool)) for pool in (self.workers, self.job_workers)]
        try:
            await self.jobs.start()
            audit.record("start_server", audit.SERVICE, "done")
            try:
                yield
            finally:
                await self.jobs.stop()
                audit.record("stop_server", audit.SERVICE, "done")
        finally:
            for task in warming:
                task.cancel()
            await asyncio.gather(self.job_workers.stop(), self.workers.stop())

    async def assign(self, request: Request, terms: Terms, validate: Validate = False) -> Response:
        """Solve a mapping problem or route a circuit, and answer with the report, whether it is feasible or not.

        Little work is done at once. More becomes a job, and so does every request with an Idempotency-Key, a priority,
        tags or a Webhook-URL: what does not end within the wait is answered with the job, which goes on.
        """
        return await self.solving.answer(request, ASSIGN, terms, validate=validate)

    async def place(self, request: Request, terms: Terms, validate: Validate = False) -> Response:
        """Place a network on a cluster, and answer with the report, whether it is feasible or not.

        Little work is done at once. More becomes a job, and so does every request with an Idempotency-Key, a priority,
        tags or a Webhook-URL: what does not end within the wait is answered with the job, which goes on.
        """
        return await self.solving.answer(request, PLACE, terms, validate=validate)

    async def plan(self, request: Request, terms: Terms, validate: Validate = False) -> Response:
        """Plan how a cluster trains a network, and answer with the report, whether it is feasible or not.

        It becomes a job unless it has a time limit that is short: what does not end within the wait is answered with
        the job, which goes on.
        """
        return await self.solving.answer(request, PLAN, terms, validate=validate)

    async def experts(self, request: Request, terms: Terms, validate: Validate = False) -> Response:
        """Place the experts of a mixture on a cluster, and answer with the report.

        Loads of few layers are balanced at once. More becomes a job, and so does every request with an Idempotency-Key,
        a priority, tags or a Webhook-URL: what does not end within the wait is answered with the job, which goes on.
        """
        return await self.solving.answer(request, EXPERTS, terms, validate=validate)

    async def solvers(self) -> SolversBody:
        """List the solvers that a request may name."""
        from tiger.solvers.registry import DWAVE, list_solvers

        listed = [info for info in await asyncio.to_thread(list_solvers) if self.limits.dwave or info.name not in DWAVE]
        return SolversBody(solvers=[SolverBody.model_validate(solver, from_attributes=True) for solver in listed])

    async def are_workers_ready(self) -> bool:
        """Return whether there are workers, those of jobs included, that have answered."""
        return all(pool.warm and pool.active for pool in (self.workers, self.job_workers))

    async def _keep_warm(self, pool: Workers) -> None:
        """Start workers, wait until one answers, and do so again should they be lost while at rest."""
        while True:
            try:
                if not (pool.warm and pool.active):
                    await pool.run(WARM_UP_S, bool)
                    pool.warm = True
                # What workers are forked from may be lost while they live, and takes seconds to load.
                await asyncio.wrap_future(prepare())
            except Exception:
                LOG.exception("workers not started")
            await asyncio.sleep(LOOK_S)


async def topologies() -> TopologiesBody:
    """List the kinds of topology that a specification may name."""
    from tiger.topologies.spec import KINDS

    return TopologiesBody(topologies=[TopologyBody.model_validate(kind, from_attributes=True) for kind in KINDS])


async def show_documentation() -> HTMLResponse:
    """Show the documentation; all that it loads is named relative to it, so that it works behind a prefix."""
    return get_swagger_ui_html(
        openapi_url="openapi.json",
        title="TIGER",
        swagger_js_url="static-offline-docs/swagger-ui-bundle.js",
        swagger_css_url="static-offline-docs/swagger-ui.css",
        swagger_favicon_url="static-offline-docs/favicon.png",
    )


async def health() -> HealthBody:
    """Say that the server answers."""
    return HealthBody()


def _add_work(app: FastAPI, service: Service) -> None:
    """Add the routes that ask for work."""
    app.add_api_route(
        "/assign",
        service.assign,
        methods=["POST"],
        summary="Map tasks onto a topology, or a circuit onto a device",
        response_model=AssignAnswer,
        response_description="The report; where nothing feasible exists, `feasible` is false and `violations` say why.",
        responses=answers.WORK,
        openapi_extra=requests.ASSIGN,
    )
    app.add_api_route(
        "/place",
        service.place,
        methods=["POST"],
        summary="Place the layers of a network on a cluster",
        response_model=PlaceAnswer,
        response_description="The report; where the cluster cannot hold the network, `feasible` is false and "
        "`violations` say by how much.",
        responses=answers.WORK,
        openapi_extra=requests.PLACE,
    )
    app.add_api_route(
        "/plan",
        service.plan,
        methods=["POST"],
        summary="Plan the degrees of parallelism by which a cluster trains a network",
        response_model=PlanAnswer,
        response_description="The report; where no plan fits, `feasible` is false and `violations` say why.",
        responses=answers.WORK,
        openapi_extra=requests.PLAN,
    )
    app.add_api_route(
        "/experts",
        service.experts,
        methods=["POST"],
        summary="Place the experts of a mixture, or say whether a change of the map in use pays",
        response_model=ExpertAnswer,
        response_description="The report, with the map to use, and the verdict where one is in use.",
        responses=answers.WORK,
        openapi_extra=requests.EXPERTS,
    )


def _add_previews(app: FastAPI, previews: PreviewRoute) -> None:
    """Add the route of previews."""
    app.add_api_route(
        "/views",
        previews.preview,
        methods=["POST"],
        summary="Show what a request states",
        response_model=PreviewBody,
        response_description="What a picture of it shows.",
        responses=answers.PREVIEWED,
        openapi_extra=requests.VIEW,
    )


def _add_files(app: FastAPI, jobs: JobRoutes) -> None:
    """Add the routes of what jobs leave."""
    app.add_api_route(
        "/jobs/{job_id}/view",
        jobs.view,
        operation_id="view_job",
        summary="Show the answer of a job as a picture does",
        response_model=ViewBody,
        responses=answers.LEFT,
    )
    app.add_api_route(
        "/jobs/{job_id}/files",
        jobs.files,
        operation_id="list_files",
        summary="List the files of a job",
        response_model=list[FileBody],
        responses=answers.LEFT,
    )
    app.add_api_route(
        "/jobs/{job_id}/files/{name}",
        jobs.file,
        operation_id="read_file",
        summary="Download a file of a job",
        response_class=Response,
        responses=answers.FILE,
    )


def _add_jobs(app: FastAPI, jobs: JobRoutes) -> None:
    """Add the routes of jobs."""
    app.add_api_route(
        "/jobs",
        jobs.page,
        operation_id="list_jobs",
        summary="List jobs",
        response_model=JobsBody,
        responses=answers.document_errors(),
    )
    app.add_api_route(
        "/jobs/{job_id}",
        jobs.show,
        operation_id="show_job",
        summary="Show a job",
        response_model=JobBody,
        responses=answers.SHOWN,
    )
    app.add_api_route(
        "/jobs/{job_id}/events",
        jobs.events,
        operation_id="follow_job",
        summary="Follow a job",
        response_class=Response,
        responses=answers.STREAMED,
    )
    app.add_api_route(
        "/jobs/{job_id}",
        jobs.cancel,
        operation_id="cancel_job",
        methods=["DELETE"],
        summary="Cancel a job",
        response_model=JobBody,
        responses=answers.CANCELLED,
    )


def _add_rebalancers(app: FastAPI, rebalancers: RebalancerRoutes) -> None:
    """Add the routes of rebalancers."""
    app.add_api_route(
        "/rebalancers",
        rebalancers.begin,
        operation_id="begin_rebalancer",
        methods=["POST"],
        summary="Begin to follow a pipeline whose layers change while it trains",
        status_code=201,
        response_model=RebalancerBody,
        responses=answers.BEGUN,
        openapi_extra=requests.REBALANCER,
    )
    app.add_api_route(
        "/rebalancers/{rebalancer_id}",
        rebalancers.show,
        operation_id="show_rebalancer",
        summary="Show a rebalancer",
        response_model=RebalancerBody,
        responses=answers.LEFT,
    )
    app.add_api_route(
        "/rebalancers/{rebalancer_id}/steps",
        rebalancers.step,
        operation_id="step_rebalancer",
        methods=["POST"],
        summary="Have a rebalancer decide whether layers move",
        response_model=DecisionBody,
        response_description="The decision: the plan from now on, and the moves that lead there.",
        responses=answers.STEPPED,
        openapi_extra=requests.STEP,
    )
    app.add_api_route(
        "/rebalancers/{rebalancer_id}",
        rebalancers.delete,
        operation_id="delete_rebalancer",
        methods=["DELETE"],
        summary="Forget a rebalancer",
        status_code=204,
        response_class=Response,
        responses=answers.LEFT,
    )
