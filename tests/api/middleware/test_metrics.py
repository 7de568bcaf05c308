"""What the service measures of itself."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.testclient import TestClient

from tiger.api.middleware.metrics import LARGE_BYTES, Metrics, RequestMetrics
from tiger.api.pool.processes import SolverLostError
from tiger.api.routes.metrics import router
from tiger.api.seams.job import DatabaseDownError


class Service:
    """Hold a measured service and what reads its figures."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        app = FastAPI()
        app.add_middleware(RequestMetrics, metrics=metrics)
        app.include_router(router(metrics))
        jobs = APIRouter()
        jobs.add_api_route("/jobs/{job}", answer)
        jobs.add_api_route("/fail", fail)
        jobs.add_api_route("/cancel", cancel)
        app.include_router(jobs)
        self.client = TestClient(app)

    def figure(self, name: str, **labels: str) -> float | None:
        """Return a figure, None without one."""
        return self.metrics.registry.get_sample_value(name, labels)

    def count_requests(self, method: str, route: str, status: str) -> float | None:
        """Return how many requests had some labels."""
        return self.figure("tiger_request_seconds_count", method=method, route=route, status=status)


async def answer(job: str) -> str:
    """Answer."""
    return job


async def fail() -> None:
    """Fail."""
    raise OSError("/secret")


async def cancel() -> None:
    """End as a request does at which the server stops."""
    raise asyncio.CancelledError


@pytest.fixture
def service() -> Service:
    """Return a measured service in whose queue seven jobs wait."""
    metrics = Metrics()
    metrics.watch(lambda: 7, lambda: 5)
    return Service(metrics)


def test_requests_are_timed_by_their_route(service: Service) -> None:
    """All jobs are one route."""
    for job in range(5):
        service.client.get(f"/jobs/{job}")
    assert service.count_requests("GET", "/jobs/{job}", "200") == 5
    assert 0 < (service.figure("tiger_request_seconds_sum", method="GET", route="/jobs/{job}", status="200") or 0) < 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "labels"),
    [
        ("GET", "/none/such", ("GET", "none", "404")),
        ("POST", "/jobs/1", ("POST", "/jobs/{job}", "405")),
        ("BREW", "/none", ("other", "none", "404")),
    ],
)
def test_what_is_not_there_has_one_label(
    service: Service, method: str, path: str, labels: tuple[str, str, str]
) -> None:
    """No request can make new labels."""
    service.client.request(method, path)
    assert service.count_requests(*labels) == 1


def test_failures_are_counted(service: Service) -> None:
    """A request that nothing answers further in is one of status 500."""
    with pytest.raises(OSError, match="secret"):
        service.client.get("/fail")
    assert service.count_requests("GET", "/fail", "500") == 1
    assert service.figure("tiger_requests_in_flight") == 0


def test_requests_cut_off_by_shutdown_are_counted(service: Service) -> None:
    """They are answered by 503 further out."""
    with contextlib.suppress(BaseException):
        service.client.get("/cancel")
    assert service.count_requests("GET", "/cancel", "503") == 1


def test_the_figures_are_prometheus_text(service: Service) -> None:
    """The request that reads them is under way itself."""
    answer = service.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert "\ntiger_requests_in_flight 1.0\n" in answer.text
    assert "\ntiger_queue_depth 7.0\n" in answer.text
    assert "process_resident_memory_bytes" in answer.text


def test_a_figure_that_is_not_known_is_named_in_the_log(lines: Callable[[], list[dict[str, Any]]]) -> None:
    """The others are there, and it is not a number."""

    def fail() -> int:
        raise DatabaseDownError("no answer")

    metrics = Metrics()
    metrics.watch(lambda: 3, fail)
    text = metrics.text().decode()
    assert "\ntiger_queue_depth 3.0\n" in text
    assert "\ntiger_webhooks_pending NaN\n" in text
    assert [line.get("figure") for line in lines()] == ["tiger_webhooks_pending"]


def test_solves_are_timed_by_solver(service: Service) -> None:
    """Seconds and gap of a report are under its solver."""
    service.metrics.record_report(json.dumps({"solver": "neal", "seconds": 2.0, "gap": 0.25}).encode())
    assert service.figure("tiger_solve_seconds_sum", solver="neal") == 2.0
    assert service.figure("tiger_gap_sum", solver="neal") == 0.25


def test_an_unknown_solver_makes_no_label(service: Service) -> None:
    """It is one of the others."""
    service.metrics.record_report(b'{"solver": "x-1", "seconds": 1}')
    service.metrics.record_report(b'{"seconds": 1, "gap": null}')
    assert service.figure("tiger_solve_seconds_count", solver="other") == 2
    assert service.figure("tiger_gap_count", solver="other") is None


def test_cancellations_are_counted(service: Service) -> None:
    """They have a counter."""
    service.metrics.count_cancelled()
    assert service.figure("tiger_cancellations_total") == 1


REPORT = b'{"solver": "auto", "seconds": 1.5, "gap": 0.5}'


@pytest.mark.parametrize(
    ("outcome", "seconds", "deaths"),
    [
        (REPORT, 1.5, 0),
        (REPORT[:-1] + b" " * LARGE_BYTES + b"}", 1.5, 0),
        (b"[]", None, 0),
        (b'{"kind": "other"}', None, 0),
        (True, None, 0),
        (SolverLostError("gone"), None, 1),
    ],
)
def test_what_workers_do_is_counted(outcome: object, seconds: float | None, deaths: int) -> None:
    """Reports large and small, deaths, and nothing else."""
    metrics = Metrics()

    async def work() -> None:
        metrics.record_call(outcome)

    # The loop waits for its threads when it ends.
    asyncio.run(work())
    assert metrics.registry.get_sample_value("tiger_solve_seconds_sum", {"solver": "auto"}) == seconds
    assert metrics.registry.get_sample_value("tiger_worker_deaths_total") == deaths


def test_a_queue_that_cannot_be_read_leaves_the_rest() -> None:
    """Without the database the other figures are still there."""

    def fail() -> int:
        raise OSError

    metrics = Metrics()
    metrics.watch(fail, lambda: 3)
    answer = Service(metrics).client.get("/metrics")
    assert answer.status_code == 200
    assert "\ntiger_queue_depth NaN\n" in answer.text
    assert "\ntiger_webhooks_pending 3.0\n" in answer.text


def test_figures_are_not_shared() -> None:
    """Two services in one process count apart."""
    one, other = Metrics(), Metrics()
    one.count_cancelled()
    assert other.registry.get_sample_value("tiger_cancellations_total") == 0
