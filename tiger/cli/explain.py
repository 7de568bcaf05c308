"""The command `tiger explain`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from tiger.cli import console
from tiger.cli.console import OK
from tiger.errors import InputError

if TYPE_CHECKING:
    from tiger.run.explanation import Explanation

FIELD = "report"
# A mapping of a million tasks takes 40 MB.
MAX_BYTES = 1 << 28

ReportFile = Annotated[
    str,
    typer.Argument(metavar="REPORT", help="A file that --json wrote; - reads standard input.", show_default=False),
]


def explain(report: ReportFile) -> int:
    """Explain a report: what was found, how good it is, what stands in the way, and what to try next.

    It takes what --json of `tiger assign`, `ranks`, `decode`, `layout`, `place`, `plan`, `calibrate`, `experts` and
    `rebalance` wrote, and the report of a service. Exits with 0 where it can be explained, feasible or not, and 2 where
    it is no report.
    """
    console.emit(explain_text(read_source(report, FIELD)).write())
    return OK


def explain_text(text: str) -> "Explanation":
    """Return the explanation of a report as JSON; raise InputError that names the member at fault."""
    try:
        return _explain(text)
    except ArithmeticError:
        raise InputError(FIELD, "expected figures that go together, got some that do not") from None


def _explain(text: str) -> "Explanation":
    """Return the explanation of a report by its schema; raise ArithmeticError for figures that cannot be true."""
    from tiger.api.saved_reports import read_report

    use, report = read_report(text)
    return cast("Explanation", use.explanation.load()(report))


def read_source(source: str, field: str) -> str:
    """Return the text of a file, or of standard input for `-`; raise InputError of a field."""
    from tiger.model.text import read_file

    content = sys.stdin.buffer.read(MAX_BYTES + 1) if source == "-" else read_file(Path(source), field, MAX_BYTES)
    if len(content) > MAX_BYTES:
        raise InputError(field, f"expected at most {MAX_BYTES} bytes, got more on standard input")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(field, f"expected UTF-8 text, got another byte at {error.start}") from None
