"""The command `tiger emit`."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from tiger.cli import console
from tiger.cli.console import OK
from tiger.cli.explain import FIELD, ReportFile, read_source
from tiger.errors import InputError
from tiger.run import outfile

if TYPE_CHECKING:
    from tiger.run.report import Report

REQUEST = "request"

System = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="SYSTEM",
        help="A launcher of `tiger ranks`, a system of `tiger place` or one of `tiger experts`.",
        rich_help_panel="Output",
        show_default=False,
    ),
]
RequestFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The request of the report, as the job of a service leaves it; maps of experts go without.",
        rich_help_panel="Problem",
    ),
]
OutputFile = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write it here.", rich_help_panel="Output"),
]


def emit(report: ReportFile, system: System, request: RequestFile = None, output: OutputFile = None) -> int:
    """Write a saved report as a launcher, a training system or a server of experts reads it, without solving again.

    A service has the request of a job as its file request.json, and the report as `report` of the job. Exits with 0, or
    with 2 where the report cannot be written so.
    """
    from tiger.api.saved_reports import complete_report, read_report

    if output is not None:
        outfile.check(output, "output")
    text = read_source(report, FIELD)
    found = read_report(text)[1] if request is None else complete_report(text, read_source(request, REQUEST))
    if not hasattr(found, "emit"):
        raise InputError(FIELD, f"expected one of a mapping, a placement, a plan or experts, got {found.schema}")
    content: str | bytes = cast("Report", found).emit(system)
    if output is not None:
        outfile.write(output, "output", content)
    elif isinstance(content, str):
        console.emit(content)
    else:
        try:
            console.emit(content.decode())
        except UnicodeDecodeError:
            raise InputError("output", f"expected a file beside --as {system}, which is no text, got none") from None
    return OK
