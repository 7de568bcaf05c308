"""The command `tiger doctor`."""

from typing import TYPE_CHECKING, Annotated

import typer

from tiger.cli import console
from tiger.cli.console import OK
from tiger.run.terminal import escape

if TYPE_CHECKING:
    from tiger.cli.diagnosis import Diagnosis, Finding

# Exit code of a machine on which something that is needed does not work.
UNWELL = 1


def doctor(
    json_file: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write the report as JSON; - prints that alone.",
            rich_help_panel="Output",
        ),
    ] = None,
) -> int:
    """Check what TIGER needs on this machine, and what else it can use.

    Exits with 0 when all that is needed works and with 1 otherwise. Nothing is compiled, sent to D-Wave or written.
    """
    console.check_report(json_file)
    from tiger.cli.diagnosis import diagnose

    diagnosis = diagnose()
    console.deliver(diagnosis, json_file, tabulate_findings)
    return OK if diagnosis.good else UNWELL


def tabulate_findings(diagnosis: "Diagnosis") -> str:
    """Return one sentence on the machine, then a row for each finding."""
    from tiger.run.summary import table

    faults = [finding.name for finding in diagnosis.findings if finding.needed and not finding.good]
    headline = f"faults: {', '.join(map(escape, faults))}" if faults else "all that is needed works"
    rows = [(escape(f.name), escape(f.value), _state(f), f.advice) for f in diagnosis.findings]
    return f"{headline}\n\n{table(('what', 'found', 'state', 'what to do'), rows)}"


def _state(finding: "Finding") -> str:
    """Return whether something is well, a fault, or worth a note."""
    if finding.good:
        return "ok"
    return "fault" if finding.needed else "note"
