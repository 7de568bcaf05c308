"""What the OpenAPI document says of answers, headers and parameters."""

from pydantic.config import JsonDict

from tiger.api.middleware import problems
from tiger.api.routes.events import MEDIA_TYPE as EVENTS
from tiger.api.routes.idempotency import MAX_LENGTH, NAME
from tiger.api.schemas.jobs import JobBody

Responses = dict[int | str, dict[str, object]]

REFUSED = {
    400: f"The body is not strict JSON in UTF-8, or the {NAME} is malformed.",
    401: "The service has keys, and the request came without a good one.",
    404: "There is nothing of that id: it never was, is forgotten, or is somebody else's.",
    405: "The route does not know the method.",
    408: "The body did not come in time.",
    409: "The job was cancelled while this request waited for it, or is to be purged, written or started from and goes "
    "on, or another step of the rebalancer came first.",
    410: "What the job was asked for is not kept any more.",
    413: "The body is too large.",
    415: "The content type is not application/json, or the body is compressed.",
    421: "The service has no keys, and was asked by another name than this machine's own.",
    422: "A field or a parameter is missing, unknown or cannot be used; `errors` points at it.",
    429: "A quota is used up, which `quota` names: of requests, jobs, streams, processor time or what is kept.",
    500: "The server failed; its log says why.",
    503: "The service is starting, ending or busy, its database is gone or full, or a process that was solving died.",
}
# What every request may be refused by, with a key or without, and what all routes but those of health add.
ANYBODY = (405, 421, 422)
EVERYWHERE = (*ANYBODY, 401, 429, 500, 503)


def _header(description: str, example: str) -> dict[str, object]:
    """Document a header."""
    return {"description": description, "schema": {"type": "string"}, "example": example}


LOCATION = {"Location": _header("Where the job, the comparison or the rebalancer is.", "/jobs/a4c6f1de")}
RETRY = {"Retry-After": _header("Seconds until asking again makes sense.", "1")}
APPLIED = {"Preference-Applied": _header("The preferences that were followed.", "wait=10")}
CHALLENGE = {"WWW-Authenticate": _header("How to send a key.", "Bearer")}
ALLOWED = {"Allow": _header("The methods that the route knows.", "GET")}
HEADERS: dict[int, dict[str, dict[str, object]]] = {
    401: CHALLENGE,
    405: ALLOWED,
    409: LOCATION,
    429: RETRY,
    503: RETRY,
}
JOB: JsonDict = {
    "id": "a4c6f1de",
    "kind": "assign",
    "status": "running",
    "priority": 0,
    "tags": ["nightly"],
    "created_s": 1.7e9,
    "started_s": 1.7e9,
    "ended_s": None,
    "progress": {"stage": "search", "cost": 412.0, "bound": 388.0, "fraction": 0.4},
    "problem": None,
    "report": None,
}
TEXT: JsonDict = {"type": "string"}
EVENT_TEXT = 'event: progress\ndata: {"id": "a4c6f1de", "status": "running"}\n\n'


def document_errors(*statuses: int) -> Responses:
    """Document problem documents of some statuses, and of those that every route but health may answer with."""
    return _document_statuses(*statuses, *EVERYWHERE)


def _document_statuses(*statuses: int) -> Responses:
    """Document problem documents of some statuses."""
    found = problems.document_problems({status: REFUSED[status] for status in sorted(statuses)})
    for status, response in found.items():
        response.update({"headers": HEADERS[int(status)]} if status in HEADERS else {})
    return found


# Of routes that need no key.
HEALTH: Responses = _document_statuses(*ANYBODY)
WORK: Responses = document_errors(400, 408, 409, 413, 415) | {
    200: {"headers": APPLIED | LOCATION},
    202: {
        "model": JobBody,
        "description": "The work goes on as a job, or the client asked not to wait for it.",
        "headers": LOCATION | RETRY | APPLIED,
        "content": {"application/json": {"example": JOB}},
    },
}
REPLANNED: Responses = WORK | document_errors(404)
SHOWN: Responses = document_errors(404) | {200: {"headers": RETRY, "content": {"application/json": {"example": JOB}}}}
CANCELLED: Responses = document_errors(404, 409) | {
    202: {"model": JobBody, "description": "The job is being stopped."},
    204: {"description": "The job is purged, and unknown from now on."},
}
STREAMED: Responses = document_errors(404) | {
    200: {
        "description": "Events named `progress` while the job goes on, then one named `done`, each with the job as "
        "JSON: only `done` has the report. Comments keep an idle stream open.",
        "content": {EVENTS: {"example": EVENT_TEXT}},
    }
}
LEFT: Responses = document_errors(404)
FILE: Responses = document_errors(404) | {
    200: {
        "description": "The text of the file.",
        "content": {"text/plain": {"schema": TEXT}, "text/csv": {"schema": TEXT}, "application/json": {}},
    }
}
ENDED: Responses = document_errors(404, 409)
EMITTED: Responses = document_errors(404, 409, 410) | {
    200: {
        "description": "The file.",
        "content": {
            **{kind: {"schema": TEXT} for kind in ("text/plain", "text/csv", "application/json")},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
UPLOAD_SHOWN = {"application/json": {"schema": {"$ref": "#/components/schemas/UploadBody"}}}
UPLOADED: Responses = document_errors(400, 408, 413, 415) | {
    200: {"description": "The upload was there already.", "headers": LOCATION, "content": UPLOAD_SHOWN},
    201: {"headers": LOCATION},
}
CONTENT: Responses = document_errors(404) | {
    200: {"description": "The text of the file.", "content": {"text/plain": {"schema": TEXT}}}
}
UPLOAD: dict[str, object] = {
    "requestBody": {
        "required": True,
        "description": "The file, a text in UTF-8.",
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "text/csv": {"schema": TEXT, "examples": {"ranks": {"value": ",r0,r1,r2\nr0,0,8,0\nr1,8,0,1\nr2,0,1,0\n"}}},
            "text/plain": {"schema": TEXT},
        },
    },
    "parameters": [
        {
            "name": "Content-Encoding",
            "in": "header",
            "description": "gzip where the body is compressed so.",
            "schema": {"type": "string", "enum": ["gzip", "identity"]},
        }
    ],
}
PREVIEWED: Responses = document_errors(400, 408, 413, 415)
BEGUN: Responses = document_errors(400, 408, 413, 415) | {201: {"headers": LOCATION}}
COMPARED: Responses = document_errors(400, 408, 413, 415) | {201: {"headers": LOCATION | RETRY}}
TABULATED: Responses = document_errors(404) | {200: {"headers": RETRY}}
TABLE: Responses = document_errors(404) | {
    200: {"description": "The rows as a table (RFC 4180).", "content": {"text/csv": {"schema": TEXT}}}
}
STEPPED: Responses = document_errors(400, 404, 408, 409, 413, 415)
KEY_PARAMETER: JsonDict = {
    "name": NAME,
    "in": "header",
    "description": "Makes the request a stored job; the same key with the same body is the same job, ended or not.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_LENGTH, "pattern": "^[!-~]+$"},
    "example": "8e03978e-40d5-43dd-bc93-6894a57f9324",
}
# Of what is no job.
REPEATS: list[JsonDict] = [
    KEY_PARAMETER | {"description": "The same key with the same body is the same request, which is done once."}
]
PARAMETERS: list[JsonDict] = [
    {
        "name": "Prefer",
        "in": "header",
        "description": "RFC 7240. `wait=N`: answer within N seconds, 10 unless stated, with the report or else with "
        "the job. `respond-async`: answer with the job at once; with both, after the wait.",
        "schema": {"type": "string"},
        "examples": {"wait": {"value": "wait=30"}, "at once": {"value": "respond-async"}},
    },
    KEY_PARAMETER,
]
