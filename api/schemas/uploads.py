"""Uploads in requests and as answers: a reference stands in place of the text of a file."""

import re
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from tiger.api.seams.upload import Upload, UploadText
from tiger.errors import InputError
from tiger.model.wording import describe

# What a body has that refers to uploads, and the ids in it; names of other things may be among these.
NAMED, ID = b'"upload"', re.compile(rb'"upload"\s*:\s*"([0-9a-f]{64})"')
# Fields in which a file may stand, itself or further inside.
FIELDS = ("tasks", "topology", "node_topology", "model", "cluster", "costs")
MEMBERS = {"file", "upload"}
# Values inside each other, in the last of which no file stands any more; that of a machine of some hosts is the fifth.
DEPTH = 8
# Uploads that one request may refer to.
MOST = 16


class UploadBody(BaseModel):
    """Describe a file that was uploaded; times are seconds since 1970."""

    model_config = ConfigDict(extra="forbid", title="Upload")

    id: str = Field(description="The SHA-256 of its bytes, by which requests refer to it.")
    name: str
    bytes: int
    kept_bytes: int = Field(description="What it takes as it is kept, compressed.")
    created_s: float
    used_s: float = Field(description="When it was last uploaded, or a job submitted that uses it.")
    jobs: int = Field(description="How many jobs use it that are kept.")


class UploadsBody(BaseModel):
    """List uploads, the newest first, and where the next page is."""

    model_config = ConfigDict(extra="forbid", title="Uploads")

    uploads: list[UploadBody]
    next: str | None


def location(upload_id: str) -> str:
    """Return where an upload is found."""
    return f"/uploads/{upload_id}"


def describe_upload(upload: Upload) -> dict[str, object]:
    """Return what is known of an upload as JSON."""
    return {
        "id": upload.id,
        "name": upload.name,
        "bytes": upload.size,
        "kept_bytes": upload.kept,
        "created_s": upload.created_s,
        "used_s": upload.used_s,
        "jobs": upload.jobs,
    }


def list_references(body: bytes) -> list[str]:
    """Return the ids of uploads that a body may refer to, in order; raise InputError for more than are taken."""
    found = sorted({match.decode() for match in ID.findall(body)})
    if len(found) > MOST:
        raise InputError("", f"expected at most {MOST} uploads, got {len(found)}")
    return found


def put_texts(body: bytes, data: object, uploads: Mapping[str, UploadText]) -> object:
    """Return the data of a body with the names and the texts of uploads, by id, where it refers to these.

    Raises InputError of a field that refers to another one. O(1) for a body that refers to none.
    """
    if NAMED not in body or not isinstance(data, dict):
        return data
    return data | {name: _put(data[name], name, uploads) for name in FIELDS if name in data}


def _put(value: object, field: str, uploads: Mapping[str, UploadText], depth: int = DEPTH) -> object:
    """Return a value with the texts of the uploads that it refers to, itself or inside, down to a depth."""
    if not (depth and isinstance(value, list | dict)):
        return value
    if isinstance(value, list):
        return [_put(item, f"{field}/{k}", uploads, depth - 1) for k, item in enumerate(value)]
    if "upload" in value and value.keys() <= MEMBERS:
        return _open(value, field, uploads)
    return {name: _put(item, f"{field}/{name}", uploads, depth - 1) for name, item in value.items()}


def _open(reference: Mapping[str, object], field: str, uploads: Mapping[str, UploadText]) -> Mapping[str, object]:
    """Return a file as its name and its text."""
    wanted = reference["upload"]
    found = uploads.get(wanted) if isinstance(wanted, str) else None
    if found is None:
        what = "expected the id of an upload that is kept, as POST /uploads answers it"
        raise InputError(f"{field}/upload", f"{what}, got {describe(wanted)}")
    name = reference.get("file", found.name)
    if not isinstance(name, str):
        raise InputError(f"{field}/file", f"expected the name of a file, got {describe(name)}")
    return {"file": name, "text": found.unpack()}
