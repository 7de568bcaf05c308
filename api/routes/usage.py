"""The route of what an owner uses and may use."""

from typing import Annotated

from fastapi import FastAPI, Query, Request

from tiger.api.routes import answers
from tiger.api.routes.owner import owner_of
from tiger.api.schemas.usage import UsageBody, describe_usage
from tiger.api.seams.job import Jobs

Days = Annotated[int, Query(ge=1, le=366, description="How many days are shown, today among them.")]


class UsageRoute:
    """Answer whoever asks with what is used, of each quota."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    async def usage(self, request: Request, days: Days = 7) -> UsageBody:
        """Return jobs that run and wait, what is kept, and the processor seconds of the last days, with the quotas."""
        owner = owner_of(request)
        return describe_usage(owner, await self.jobs.usage(owner, days))


def add_usage(app: FastAPI, jobs: Jobs) -> None:
    """Add the route of what an owner uses."""
    app.add_api_route(
        "/usage",
        UsageRoute(jobs).usage,
        operation_id="show_usage",
        summary="Show what the key has used, and what is left of its quotas",
        responses=answers.document_errors(),
    )
