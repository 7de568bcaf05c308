"""The middleware of the service, from the network to the routes."""

from collections.abc import Callable, Mapping

from fastapi import FastAPI
from starlette.routing import BaseRoute

from tiger.api.middleware import problems, rates
from tiger.api.middleware.audit import AuditLog
from tiger.api.middleware.headers import Headers
from tiger.api.middleware.keys import Guard, Mask
from tiger.api.middleware.log import RequestLog
from tiger.api.middleware.metrics import Metrics, RequestMetrics
from tiger.api.middleware.origins import Origins
from tiger.api.middleware.spending import Spending
from tiger.api.routes import metrics as figures
from tiger.api.routes import readiness
from tiger.api.seams.quota import Charge
from tiger.api.settings import Settings


def protect(app: FastAPI, settings: Settings, metrics: Metrics, charge: Callable[[Charge], None]) -> None:
    """Add the middleware to an application, and have every error answered by a problem document.

    From the outside in: number and headers, log, audit, figures, other origins, keys, rates, processor time, which
    `charge` is told of. Refusals are therefore measured and logged, and requests without a key do not count towards the
    rates of others. The last one added is the outermost.
    """
    for kind in problems.HANDLED:
        app.add_exception_handler(kind, problems.answer)
    app.add_middleware(Spending, charge=charge)
    if settings.rate or settings.max_concurrent:
        allowed = rates.parse(settings.rate) if settings.rate else []
        app.add_middleware(rates.Rates, rates=allowed, max_concurrent=settings.max_concurrent)
    app.add_middleware(Guard, keys=settings.keys)
    if settings.cors_origins:
        app.add_middleware(Origins, origins=settings.cors_origins)
    app.add_middleware(RequestMetrics, metrics=metrics)
    app.add_middleware(AuditLog, reads=settings.audit_reads)
    mask = Mask(settings.keys, settings.keys_file.secrets)
    app.add_middleware(RequestLog, mask=mask)
    app.add_middleware(Headers, mask=mask)


def operations(metrics: Metrics, parts: Mapping[str, readiness.Ready]) -> list[BaseRoute]:
    """Return the routes of those who run the service: `/metrics`, and `/readyz` for some parts."""
    return [*figures.router(metrics).routes, *readiness.router(parts).routes]
