"""Reports that were saved as JSON, read so that they emit and draw what they did when they were made."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tiger.api.schemas.reports import read_document
from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.text import read_text
from tiger.model.wording import describe
from tiger.run.use import Use
from tiger.uses import list_uses

if TYPE_CHECKING:
    from tiger.model.answer import Answer

FIELD, REQUEST = "report", "request"
# Seconds that any request may take.
LONGEST_S = 1e9
Source = Path | str | Mapping[str, object]


def load_report(report: Source, request: Source | None = None, /, **arguments: object) -> "Answer":
    """Return a saved report, complete where what it answers is stated beside it; nothing is solved again.

    `report` is a file that `--json` wrote or a service sent, or its document. Beside it is either the `request`, a file
    or document as `request.json` of a job, or the `arguments` of `tiger.assign`, `place` or `plan` that it came of. A
    mapping needs its tasks and hardware to be emitted, and a placement or plan its model and cluster; maps of experts
    go without. Raises InputError of `report` or `request`, or below, for what is none or does not go together, and as
    the arguments are refused.
    """
    text = _text_of(report, FIELD)
    if request is not None and arguments:
        raise InputError(REQUEST, "expected a request or arguments, got both")
    if request is not None:
        return complete_report(text, _text_of(request, REQUEST))
    use, found = read_report(text)
    if arguments and use.remote is not None:
        return cast("Answer", use.remote.state.load()(use.call(**arguments)).complete(found))
    return found


def complete_report(text: str, request: str) -> "Answer":
    """Return the report of a JSON text, complete by the text of the request that it answers; raise InputError."""
    from tiger.api.routes.completion import KINDS, complete
    from tiger.api.schemas.limits import Limits

    use, found = read_report(text)
    if use.schema not in KINDS:
        raise InputError(REQUEST, f"expected none beside a report of {use.name}, got one")
    counts = ("max_tasks", "max_qubits", "max_edges", "max_gates", "max_couplers")
    limits = Limits(**dict.fromkeys(counts, sys.maxsize), max_time_s=LONGEST_S, dwave=True)
    return complete(cast(Any, found), request.encode(), limits)


def read_report(text: str) -> "tuple[Use, Answer]":
    """Return the use and the report that a JSON text states, by its schema; raise InputError of the member at fault."""
    stated = read_json(text, FIELD)
    schema = stated.get("schema") if isinstance(stated, dict) else None
    for use in list_uses():
        if schema == use.schema:
            return use, cast("Answer", read_document(use.report.load(), text, FIELD))
    known = ", ".join(use.schema for use in list_uses())
    raise InputError(f"{FIELD}/schema", f"expected one of {known}, got {describe(schema)}")


def _text_of(source: Source, field: str) -> str:
    """Return a document as JSON, or the text of the file at a path; raise InputError of a field."""
    return json.dumps(source) if isinstance(source, Mapping) else read_text(Path(source), field)
