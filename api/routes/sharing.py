"""The Dask cluster that shares in what is no small work."""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from tiger.api.routes.admission import is_small
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.placement import PlanRequest
from tiger.run.parallel import executors
from tiger.run.parallel.dask_pool import FanOut
from tiger.run.report import Report

if TYPE_CHECKING:
    from tiger.circuits.entry.report import CircuitReport
    from tiger.planning.report import PlanReport

AnyReport = TypeVar("AnyReport", Report, "CircuitReport", "PlanReport")


def share(request: AssignRequest | CircuitRequest | PlanRequest, address: str | None) -> FanOut | None:
    """Return an executor on the Dask cluster at an address; None without one, and for a request that is small."""
    return None if address is None or is_small(request) else executors.keep_executor(address)


def warn_of_trouble(report: AnyReport, shared: FanOut | None) -> AnyReport:
    """Return a report with a warning where the cluster failed, without which the answer is the same."""
    if shared is None or shared.trouble is None:
        return report
    return replace(report, warnings=(*report.warnings, shared.trouble))
