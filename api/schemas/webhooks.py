"""Events as JSON: those that owners are told of, and those that are listed with how far each has come."""

from dataclasses import asdict

from pydantic import BaseModel, ConfigDict, Field

from tiger.api.seams.webhook import Webhook, WebhookStatus


class WebhookBody(BaseModel):
    """Describe an event of a job and how far its delivery has come; times are seconds since 1970."""

    model_config = ConfigDict(extra="forbid", title="Webhook")

    id: str = Field(description="The `webhook-id` of every attempt to deliver it.")
    job_id: str
    event: str = Field(description="`job.done`, `job.failed` or `job.cancelled`.")
    url: str = Field(description="Where it is sent.")
    status: WebhookStatus = Field(description="Dead ones were given up, and are sent again on request.")
    attempts: int = Field(description="Attempts since it was queued last.")
    created_s: float
    next_s: float | None = Field(description="When it is sent again at the earliest; null once that is over.")
    settled_s: float | None = Field(description="When it was delivered or given up.")
    last_status: int | None = Field(description="The status of the last answer; null where there was none.")
    last_error: str | None = Field(description="Why the last attempt had no answer.")


class WebhooksBody(BaseModel):
    """List events, the newest first, and where the next page is."""

    model_config = ConfigDict(extra="forbid", title="Webhooks")

    webhooks: list[WebhookBody]
    next: str | None


def describe_webhook(webhook: Webhook) -> dict[str, object]:
    """Return an event as it is listed."""
    return asdict(webhook) | ({} if webhook.status == "pending" else {"next_s": None})
