"""The client of the REST service: `Client(url)` has the local entries, and jobs.

    with Client("http://localhost:8000") as client:
        report = client.assign(graph, "torus:4x4x4", seed=1)           # as tiger.assign
        job = client.submit(assignment(graph, "torus:4x4x4", seed=1))  # answered later
        report = job.wait(print)

In come the arguments of the local entries, out come their reports, except for what JSON does not carry
(`tiger.client.reports`). Read `client` first, then `requests`, which makes bodies, and `connection`, which sends them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiger.client.client import Client
    from tiger.client.comparison import ComparedRow, RemoteComparison
    from tiger.client.connection import Patience
    from tiger.client.errors import JobCancelledError, ServiceError
    from tiger.client.job import RemoteJob
    from tiger.client.rebalancer import RemoteRebalancer
    from tiger.client.requests import Asked, assignment, circuit_layout, expert_placement, placement, planning
    from tiger.client.uploads import RemoteUpload
    from tiger.client.usage import KeyUsage, QuotaUse
    from tiger.client.webhooks import verify_webhook
    from tiger.errors import InputError

_HOMES = {
    "Asked": "tiger.client.requests",
    "Client": "tiger.client.client",
    "ComparedRow": "tiger.client.comparison",
    "InputError": "tiger.errors",
    "JobCancelledError": "tiger.client.errors",
    "KeyUsage": "tiger.client.usage",
    "Patience": "tiger.client.connection",
    "QuotaUse": "tiger.client.usage",
    "RemoteComparison": "tiger.client.comparison",
    "RemoteJob": "tiger.client.job",
    "RemoteRebalancer": "tiger.client.rebalancer",
    "RemoteUpload": "tiger.client.uploads",
    "ServiceError": "tiger.client.errors",
    "assignment": "tiger.client.requests",
    "circuit_layout": "tiger.client.requests",
    "expert_placement": "tiger.client.requests",
    "placement": "tiger.client.requests",
    "planning": "tiger.client.requests",
    "verify_webhook": "tiger.client.webhooks",
}

__all__ = [
    "Asked",
    "Client",
    "ComparedRow",
    "InputError",
    "JobCancelledError",
    "KeyUsage",
    "Patience",
    "QuotaUse",
    "RemoteComparison",
    "RemoteJob",
    "RemoteRebalancer",
    "RemoteUpload",
    "ServiceError",
    "assignment",
    "circuit_layout",
    "expert_placement",
    "placement",
    "planning",
    "verify_webhook",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import tiger.client` stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tiger.client' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
