"""Problem documents as JSON (RFC 9457)."""

from pydantic import BaseModel, ConfigDict, Field


class FieldErrorBody(BaseModel):
    """Point at a field of a request, and say what is wrong with it."""

    model_config = ConfigDict(title="FieldError")

    pointer: str = Field(description="A JSON pointer in fragment form, such as `#/tasks/nodes/0/id`.")
    detail: str


class ProblemBody(BaseModel):
    """Say why a request was refused, or what failed; a job has that of the request which it came from."""

    model_config = ConfigDict(extra="allow", title="Problem")

    type: str = Field(json_schema_extra={"format": "uri-reference"})
    title: str = Field(description="The phrase of the status.")
    status: int
    detail: str
    quota: str | None = Field(default=None, description="What is used up, where that is the reason (429).")
    used: float | None = Field(default=None, description="How much of the quota is used.")
    limit: float | None = None
    left: float | None = None
    resets_s: float | None = Field(
        default=None, description="Seconds until there is more of the quota, or until asking again makes sense."
    )
    errors: list[FieldErrorBody] = Field(default=[], description="The fields at fault, where there are any.")
