"""The routes of uploads: files that several requests refer to, kept once."""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated

from fastapi import FastAPI, Path, Query, Request, Response

from tiger.api.middleware.problems import FieldError, Problem, RefusedError
from tiger.api.routes import answers
from tiger.api.routes.downloads import answer_with_download
from tiger.api.routes.files import TEXT
from tiger.api.routes.listing import After, link_to_next
from tiger.api.routes.owner import owner_of
from tiger.api.routes.uploading import Receiver
from tiger.api.schemas.jobs import MEDIA_TYPE
from tiger.api.schemas.uploads import UploadBody, UploadsBody, describe_upload, list_references, location
from tiger.api.seams.files import JobFile
from tiger.api.seams.job import Jobs
from tiger.api.seams.upload import NO_UPLOADS, NewUpload, Upload, UploadInUseError, Uploads, UploadText

# Uploads on a page, at most.
PAGE = 100
# What names no upload for sure is not looked for.
ID = re.compile(r"[0-9a-f]{64}")
# A name without folders: it is never opened, and its ending says what the file is.
NAME = re.compile(r"[^/\\\x00-\x1f\x7f\"]{1,200}")
UploadId = Annotated[
    str,
    Path(
        description="The id of an upload: the SHA-256 of its bytes in hexadecimal.",
        examples=["2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"],
    ),
]
Name = Annotated[
    str, Query(min_length=1, description="The name of the file, whose ending says what it is.", examples=["ranks4.csv"])
]
Limit = Annotated[int, Query(ge=1, le=PAGE, description="How many uploads a page shows.")]


class UploadRoutes:
    """Answer requests about the uploads of their owner; those of others are as unknown as uploads that never were."""

    def __init__(self, jobs: Jobs, max_bytes: int) -> None:
        self._jobs, self.receiver = jobs, Receiver(max_bytes)

    @property
    def uploads(self) -> Uploads:
        """Return what keeps them, which is there once the service has started."""
        return self._jobs.uploads

    async def upload(self, request: Request, name: Name) -> Response:
        """Keep a file of text for requests to refer to, as `{"upload": id}` in place of `{"file": name, "text": text}`.

        Its id is the SHA-256 of its bytes: the same file again is the same upload (200 in place of 201), which keeps
        its first name. The body is the file as it is, or compressed by gzip with that as its Content-Encoding.
        """
        if not NAME.fullmatch(name) or not name.strip(". "):
            raise _refuse_name()
        owner = owner_of(request)
        text = await self.receiver.receive(request, owner)
        new = NewUpload(id=text.id, owner=owner, name=name, size=text.size, packed=text.packed)
        found, fresh = await self.uploads.insert(new)
        status = HTTPStatus.CREATED if fresh else HTTPStatus.OK
        return _answer(found, status, {"Location": location(found.id)})

    async def page(self, request: Request, after: After = None, limit: Limit = PAGE) -> Response:
        """List uploads, the newest first."""
        found, cursor = await self.uploads.page(owner_of(request), after, limit)
        following = link_to_next(request, cursor, limit)
        listed = {"uploads": [describe_upload(each) for each in found], "next": following}
        return Response(json.dumps(listed, allow_nan=False), media_type=MEDIA_TYPE)

    async def show(self, request: Request, upload_id: UploadId) -> Response:
        """Return what is known of an upload."""
        return _answer(await self._find(request, upload_id), HTTPStatus.OK, {})

    async def content(self, request: Request, upload_id: UploadId) -> Response:
        """Return the text of an upload, to be saved."""
        found = await self._find(request, upload_id)
        texts = await self.uploads.read([upload_id], owner_of(request))
        if upload_id not in texts:
            raise _refuse_unknown()
        packed = texts[upload_id].packed
        file = JobFile(name=found.name, description="", media_type=TEXT, size=found.size, packed=packed)
        return await answer_with_download(request, file)

    async def delete(self, request: Request, upload_id: UploadId) -> Response:
        """Delete an upload, unless a job that uses it has not ended.

        Jobs that have ended keep their reports and files, and what else is written of them needs it no more.
        """
        try:
            known = ID.fullmatch(upload_id) and await self.uploads.delete(upload_id, owner_of(request))
        except UploadInUseError:
            detail = "A job that uses the upload has not ended: wait for it, or cancel it."
            raise RefusedError(Problem(HTTPStatus.CONFLICT, detail)) from None
        if not known:
            raise _refuse_unknown()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def _find(self, request: Request, upload_id: str) -> Upload:
        """Return an upload, or raise RefusedError (404)."""
        known = await self.uploads.get(upload_id, owner_of(request)) if ID.fullmatch(upload_id) else None
        if known is None:
            raise _refuse_unknown()
        return known


async def name_uploads(jobs: Jobs, body: bytes, owner: str) -> Mapping[str, UploadText]:
    """Return the names of uploads that a body may refer to, without their texts; raise InputError for too many."""
    ids = list_references(body)
    return await jobs.uploads.list_names(ids, owner) if ids else NO_UPLOADS


async def read_uploads(jobs: Jobs, body: bytes, owner: str) -> Mapping[str, UploadText]:
    """Return the uploads that a body may refer to, with their texts compressed; raise InputError for too many."""
    ids = list_references(body)
    return await jobs.uploads.read(ids, owner) if ids else NO_UPLOADS


def add_uploads(app: FastAPI, jobs: Jobs, max_bytes: int) -> None:
    """Add the routes of uploads of at most so many bytes."""
    routes = UploadRoutes(jobs, max_bytes)
    app.add_api_route(
        "/uploads",
        routes.upload,
        operation_id="upload_file",
        methods=["POST"],
        summary="Upload a file that requests refer to",
        status_code=201,
        response_model=UploadBody,
        responses=answers.UPLOADED,
        openapi_extra=answers.UPLOAD,
    )
    app.add_api_route(
        "/uploads",
        routes.page,
        operation_id="list_uploads",
        summary="List uploads",
        response_model=UploadsBody,
        responses=answers.document_errors(),
    )
    app.add_api_route(
        "/uploads/{upload_id}",
        routes.show,
        operation_id="show_upload",
        summary="Show an upload",
        response_model=UploadBody,
        responses=answers.LEFT,
    )
    app.add_api_route(
        "/uploads/{upload_id}/content",
        routes.content,
        operation_id="read_upload",
        summary="Download an upload",
        response_class=Response,
        responses=answers.CONTENT,
    )
    app.add_api_route(
        "/uploads/{upload_id}",
        routes.delete,
        operation_id="delete_upload",
        methods=["DELETE"],
        summary="Delete an upload",
        status_code=204,
        response_class=Response,
        responses=answers.document_errors(404, 409),
    )


def _answer(upload: Upload, status: HTTPStatus, headers: dict[str, str]) -> Response:
    """Answer with an upload."""
    return Response(json.dumps(describe_upload(upload), allow_nan=False), status, headers, MEDIA_TYPE)


def _refuse_name() -> RefusedError:
    """Return the refusal of a name that no file has."""
    reason = "expected the name of a file without its folders, of at most 200 characters"
    return RefusedError(Problem(422, f"#/name: {reason}", (FieldError("#/name", reason),)))


def _refuse_unknown() -> RefusedError:
    """Return the refusal of an id that is of no upload, or of another owner's."""
    return RefusedError(Problem(404, "There is no such upload, or not any more."))
