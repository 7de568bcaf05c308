"""What the service measures of itself, for Prometheus."""

import asyncio
import json
import math
import time
from collections.abc import Callable
from functools import partial

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.process_collector import ProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiger.api.pool.processes import SolverLostError, TooMuchWorkError
from tiger.api.seams.files import JobDelivery
from tiger.api.seams.webhook import WebhookOutcome
from tiger.solvers.registry import list_solvers

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
# Reports beyond this size are parsed in a thread: below, that takes less than a millisecond.
LARGE_BYTES = 65_536
NO_ROUTE, OTHER = "none", "other"
# Bounds of the histograms' buckets, in seconds and as a share of the cost.
LATENCIES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SOLVES = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3600.0)
GAPS = (0.0, 0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)


class Metrics:
    """Count and time what one server does; every server of several has figures of its own.

    Labels are routes as they are declared, statuses, methods, quotas and names of known solvers, so that no request can
    make new ones.
    """

    def __init__(self) -> None:
        # When a series began is a series of its own, which nobody reads.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.solvers = {info.name for info in list_solvers()}
        self.latency = self._histogram(
            "request", "Seconds until an answer begins.", LATENCIES, "method", "route", "status"
        )
        self.running = Gauge("tiger_requests_in_flight", "Requests under way.", registry=self.registry)
        self.solves = self._histogram("solve", "Seconds that a solve took.", SOLVES, "solver")
        self.gaps = Histogram(
            "tiger_gap", "Relative gap to the lower bound.", ("solver",), buckets=GAPS, registry=self.registry
        )
        self.cancels = self._counter("cancellations", "Jobs cancelled by request.")
        self.deaths = self._counter("worker_deaths", "Workers that ended while they were solving.")
        self.refusals = self._counter("quota_refusals", "Requests refused as a quota was used up (429).", "quota")
        self.webhooks = self._counter("webhooks", "Attempts to tell an owner of the end of a job.", "outcome")

    def watch(self, depth: Callable[[], int], webhooks: Callable[[], int]) -> None:
        """Have the jobs that wait, and the events, counted from a thread whenever the figures are read."""
        counts = (
            ("tiger_queue_depth", "Jobs that wait.", depth),
            ("tiger_webhooks_pending", "Events that are to be sent.", webhooks),
        )
        for name, about, count in counts:
            Gauge(name, about, registry=self.registry).set_function(partial(_count_waiting, name, count))

    def record_call(self, outcome: object) -> None:
        """Record what came of a call of a worker: bytes are taken for a report, and errors for its death."""
        report = outcome.report if isinstance(outcome, JobDelivery) else outcome
        if isinstance(report, SolverLostError | TooMuchWorkError):
            self.deaths.inc()
        elif isinstance(report, bytes) and len(report) > LARGE_BYTES:
            asyncio.get_running_loop().run_in_executor(None, self.record_report, report)
        elif isinstance(report, bytes):
            self.record_report(report)

    def record_report(self, report: bytes) -> None:
        """Record the seconds, the solver and the gap of a report; what has no seconds is none."""
        found = json.loads(report)
        if not isinstance(found, dict) or not isinstance(found.get("seconds"), int | float):
            return
        named = found.get("solver")
        solver = named if isinstance(named, str) and named in self.solvers else OTHER
        self.solves.labels(solver).observe(found["seconds"])
        if isinstance(found.get("gap"), int | float):
            self.gaps.labels(solver).observe(found["gap"])

    def count_cancelled(self) -> None:
        """Record that a job was cancelled."""
        self.cancels.inc()

    def count_webhook(self, outcome: WebhookOutcome) -> None:
        """Record what came of an attempt to tell an owner of the end of a job."""
        self.webhooks.labels(outcome).inc()

    def text(self) -> bytes:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self.registry)

    def _histogram(self, what: str, about: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        """Return a histogram of seconds."""
        return Histogram(f"tiger_{what}_seconds", about, labels, buckets=buckets, registry=self.registry)

    def _counter(self, what: str, about: str, *labels: str) -> Counter:
        """Return a counter."""
        return Counter(f"tiger_{what}", about, labels, registry=self.registry)


class RequestMetrics:
    """Time every request, by the route that answered it."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note how long it waits for its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, answered = time.perf_counter(), False

        def note(status: int) -> None:
            labels = (_method(scope), _route(scope), str(status))
            self.metrics.latency.labels(*labels).observe(time.perf_counter() - began)
            if (quota := scope.get("state", {}).get("quota")) is not None:
                self.metrics.refusals.labels(quota).inc()

        async def send_and_note(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                note(int(message["status"]))
            await send(message)

        with self.metrics.running.track_inprogress():
            try:
                await self.app(scope, receive, send_and_note)
            except (Exception, asyncio.CancelledError) as error:
                if not answered:
                    note(503 if isinstance(error, asyncio.CancelledError) else 500)
                raise


def _route(scope: Scope) -> str:
    """Return the route of a request as it is declared, never its path."""
    return str(getattr(scope.get("route"), "path", NO_ROUTE))


def _method(scope: Scope) -> str:
    """Return the method of a request, if it is one of the known."""
    return scope["method"] if scope["method"] in METHODS else OTHER


def _count_waiting(name: str, count: Callable[[], int]) -> float:
    """Return how many wait, or not a number where that is not known, as the other figures are."""
    try:
        return float(count())
    except Exception:  # noqa: BLE001 (whatever it is, it is logged)
        structlog.get_logger().exception("figure unknown", figure=name)
        return math.nan
