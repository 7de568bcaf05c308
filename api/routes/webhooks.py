"""The routes of webhooks: list the events of a key's jobs with what became of them, and have one sent again."""

import json
from http import HTTPStatus
from typing import Annotated

from fastapi import FastAPI, Path, Query, Request, Response

from tiger.api.middleware.problems import Problem, RefusedError
from tiger.api.routes import answers
from tiger.api.routes.jobs import PAGE
from tiger.api.routes.listing import After, link_to_next
from tiger.api.routes.owner import owner_of
from tiger.api.schemas.jobs import MEDIA_TYPE
from tiger.api.schemas.webhooks import WebhookBody, WebhooksBody, describe_webhook
from tiger.api.seams.job import Jobs
from tiger.api.seams.webhook import WebhookStatus

WebhookId = Annotated[str, Path(description="The id of an event, which every attempt has.", examples=["a4c6f1de"])]
Statuses = Annotated[
    list[WebhookStatus], Query(description="Only events that are in this state; repeat it for several.")
]
Limit = Annotated[int, Query(ge=1, le=PAGE, description="How many events a page shows.")]


class WebhookRoutes:
    """Answer requests about the events of their owner; those of other owners are unknown."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    async def page(
        self,
        request: Request,
        status: Statuses = [],  # noqa: B006 (which FastAPI copies)
        after: After = None,
        limit: Limit = PAGE,
    ) -> Response:
        """List the events that this key's jobs have ended, the newest first: all, or those of some states.

        Delivered and dead ones are deleted with the age of ended jobs.
        """
        found, cursor = await self.jobs.webhooks.page(owner_of(request), after, limit, tuple(status))
        page = {
            "webhooks": [describe_webhook(webhook) for webhook in found],
            "next": link_to_next(request, cursor, limit),
        }
        return Response(json.dumps(page, allow_nan=False), media_type=MEDIA_TYPE)

    async def redeliver(self, request: Request, webhook_id: WebhookId) -> Response:
        """Queue an event again, to be sent at once, with all attempts before it; one that is being sent goes on."""
        found = await self.jobs.webhooks.redeliver(webhook_id, owner_of(request))
        if found is None:
            raise RefusedError(Problem(HTTPStatus.NOT_FOUND, "There is no such event, or not any more."))
        document = json.dumps(describe_webhook(found), allow_nan=False)
        return Response(document, HTTPStatus.ACCEPTED, media_type=MEDIA_TYPE)


def add_webhooks(app: FastAPI, jobs: Jobs) -> None:
    """Add the routes of webhooks."""
    webhooks = WebhookRoutes(jobs)
    app.add_api_route(
        "/webhooks",
        webhooks.page,
        operation_id="list_webhooks",
        summary="List the events that owners are told of",
        response_model=WebhooksBody,
        responses=answers.document_errors(),
    )
    app.add_api_route(
        "/webhooks/{webhook_id}/redeliver",
        webhooks.redeliver,
        operation_id="redeliver_webhook",
        methods=["POST"],
        summary="Have an event sent again",
        status_code=HTTPStatus.ACCEPTED,
        response_model=WebhookBody,
        response_description="The event, which waits to be sent.",
        responses=answers.LEFT,
    )
