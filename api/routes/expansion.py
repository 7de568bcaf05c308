"""What a request for a comparison comes to: jobs that there are, and checked requests that become jobs."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from pydantic import ValidationError

from tiger.api.middleware import problems
from tiger.api.routes.admission import is_small
from tiger.api.routes.document import parse
from tiger.api.routes.entries import ENTRIES
from tiger.api.routes.solving import DEFERRED, SMALL
from tiger.api.schemas.comparisons import FEWEST, MOST, ComparisonRequest
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.starts import FIELD as START
from tiger.api.schemas.uploads import list_references
from tiger.api.seams.job import JobOrder, Kind
from tiger.api.seams.upload import NO_UPLOADS, UploadText
from tiger.errors import InputError

# Fields that state the problem, as everything else says where and how it is solved.
PROBLEMS = ("circuit", "tasks", "model", "trace")
# Bytes of all requests that variants come to, four of the largest bodies by default.
MOST_BYTES = 16 << 20
# Characters of a field that is shown as it is, and of a label that is made of changes.
SHOWN, LABEL = 120, 60


class ExpandedEntry(NamedTuple):
    """Hold an entry: where in the request it stands, its label, and the id of a job, or what is to be done.

    Of the latter it has the fields of its request, as `digest_request` returns them, and where a job that it starts
    from is named.
    """

    where: str
    label: str | None
    job: str | JobOrder
    request: Mapping[str, object] | None = None
    start: str = ""


def expand(body: bytes, limits: Limits, uploads: Mapping[str, UploadText] = NO_UPLOADS) -> list[ExpandedEntry]:
    """Return the entries that a body comes to, the requests among them checked; raise InputError that names the field.

    A request that is stated or changed by an entry is faulted there: `variants/1/changes/seed`. Uploads may be in it.
    """
    try:
        asked = ComparisonRequest.read(parse(body))
    except ValidationError as error:
        raise _fault("", error) from None
    count = len(asked.entries) + len(asked.variants)
    if not FEWEST <= count <= MOST:
        raise InputError("entries", f"expected {FEWEST} to {MOST} entries and variants, got {count}")
    try:
        entries = [*_read_entries(asked, limits, uploads), *_read_variants(asked, limits, uploads)]
    except RecursionError:
        # To merge objects takes more room than to read them.
        raise _refuse_depth() from None
    if sum(len(each.job.body) for each in entries if isinstance(each.job, JobOrder)) > MOST_BYTES:
        raise InputError("variants", f"expected requests of {MOST_BYTES} bytes in all, got more")
    return entries


def digest_request(body: bytes, _: Limits) -> dict[str, object]:
    """Return the fields of a request, each as it is, or as a digest where it is long."""
    data = parse(body)
    try:
        return {name: _digest(value) for name, value in data.items()} if isinstance(data, dict) else {}
    except RecursionError:
        raise _refuse_depth() from None


def write_value(value: object) -> str:
    """Return a field of a request in short: a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def problem_in(request: Mapping[str, object]) -> str | None:
    """Return the field of a request that states its problem."""
    return next((name for name in PROBLEMS if name in request), None)


def merge(target: object, patch: object) -> object:
    """Return a value with a merge patch applied, as RFC 7396 has it."""
    if not isinstance(patch, dict):
        return patch
    known = target if isinstance(target, dict) else {}
    merged = {name: merge(known.get(name), value) for name, value in patch.items() if value is not None}
    return {name: value for name, value in known.items() if name not in patch} | merged


def _read_entries(
    asked: ComparisonRequest, limits: Limits, uploads: Mapping[str, UploadText]
) -> Iterator[ExpandedEntry]:
    """Yield the entries that are jobs, or requests stated in full."""
    for k, each in enumerate(asked.entries):
        where = f"entries/{k}"
        if each.job is not None and each.kind is None and each.request is None:
            yield ExpandedEntry(where, each.label, each.job)
        elif each.job is None and each.kind is not None and each.request is not None:
            try:
                found = _order(where, each.label, each.kind, each.request, limits, uploads)
            except (ValidationError, InputError) as error:
                raise _fault(f"{where}/request", error) from None
            yield found._replace(start=f"{where}/request/{START}")
        else:
            raise InputError(where, "expected either a job, or a kind and a request")


def _read_variants(
    asked: ComparisonRequest, limits: Limits, uploads: Mapping[str, UploadText]
) -> Iterator[ExpandedEntry]:
    """Yield the entries that are changes of one request."""
    for name in ("kind", "request"):
        if bool(asked.variants) != (getattr(asked, name) is not None):
            raise InputError(name, "expected it beside variants, and only there")
    for k, each in enumerate(asked.variants):
        where, label = f"variants/{k}", each.label or _name_changes(each.changes)
        try:
            found = _order(where, label, cast(Kind, asked.kind), merge(asked.request, each.changes), limits, uploads)
        except (ValidationError, InputError) as error:
            first = _fault("", error).field.partition("/")[0]
            changed = first.replace("~1", "/").replace("~0", "~") in each.changes
            raise _fault(f"{where}/changes" if changed else "request", error) from None
        yield found._replace(start=f"{where}/changes/{START}" if START in each.changes else f"request/{START}")


def _order(
    where: str, label: str | None, kind: Kind, request: object, limits: Limits, uploads: Mapping[str, UploadText]
) -> ExpandedEntry:
    """Return an entry that becomes a job; raise InputError or ValidationError of the request."""
    try:
        body = json.dumps(request, allow_nan=False).encode()
    except ValueError:
        raise InputError("", "expected finite numbers, got one that is none") from None
    used = tuple(each for each in list_references(body) if each in uploads)
    small = is_small(ENTRIES[kind].check(body, limits, uploads)) and not used
    job = JobOrder(kind=kind, body=body, rank=SMALL if small else DEFERRED, uploads=used)
    return ExpandedEntry(where, label, job, digest_request(body, limits))


def _fault(where: str, error: ValidationError | InputError) -> InputError:
    """Return the first fault of a request as one of where that is stated."""
    first = error if isinstance(error, InputError) else problems.first_fault(error)
    return InputError("/".join(filter(None, (where, first.field))), first.reason)


def _refuse_depth() -> InputError:
    """Return the refusal of JSON that cannot be merged or written again."""
    return InputError("body", "expected JSON, got one that is nested too deeply")


def _name_changes(changes: Mapping[str, object]) -> str | None:
    """Return short changes as a label, None for long ones and for none."""
    text = ", ".join(f"{name}={write_value(value)}" for name, value in changes.items())
    return text if 0 < len(text) <= LABEL and text.isprintable() else None


def _digest(value: object) -> object:
    """Return a value, or its digest where it is long."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    if len(text) <= SHOWN:
        return value
    name = {"file": value["file"]} if isinstance(value, dict) and isinstance(value.get("file"), str) else {}
    return {**name, "sha256": hashlib.sha256(text.encode()).hexdigest(), "bytes": len(text)}
