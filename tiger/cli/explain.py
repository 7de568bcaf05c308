"""The command `tiger explain`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tiger.cli import console
from tiger.cli.console import OK
from tiger.errors import InputError
from tiger.model.wording import describe

if TYPE_CHECKING:
    from tiger.cli.explanation import Explanation

FIELD = "report"
# A mapping of a million tasks takes 40 MB.
MAX_BYTES = 1 << 28

ReportFile = Annotated[
    str,
    typer.Argument(metavar="REPORT", help="A file that --json wrote; - reads standard input.", show_default=False),
]


def explain(report: ReportFile) -> int:
    """Explain a report: what was found, how good it is, what stands in the way, and what to try next.

    It takes what --json of `tiger assign`, `ranks`, `decode`, `layout`, `place`, `plan`, `experts` and `rebalance`
    wrote, and the report of a service. Exits with 0 where it can be explained, feasible or not, and 2 where it is no
    report.
    """
    console.emit(explain_text(_read(report)).write())
    return OK


def explain_text(text: str) -> "Explanation":
    """Return the explanation of a report as JSON; raise InputError that names the member at fault."""
    try:
        return _explain(text)
    except ArithmeticError:
        raise InputError(FIELD, "expected figures that go together, got some that do not") from None


def _explain(text: str) -> "Explanation":
    """Return the explanation of a report by its schema; raise ArithmeticError for figures that cannot be true."""
    from tiger.api.schemas.reports import read_document
    from tiger.circuits.entry.report import SCHEMA as CIRCUIT
    from tiger.circuits.entry.report import CircuitReport
    from tiger.cli.circuit_explanation import explain_circuit
    from tiger.cli.expert_explanation import explain_experts
    from tiger.cli.mapping_explanation import explain_mapping
    from tiger.cli.network_explanation import explain_placement, explain_plan
    from tiger.cli.rebalancing_explanation import explain_rebalancing
    from tiger.expert_maps.report import SCHEMA as EXPERTS
    from tiger.expert_maps.report import ExpertReport
    from tiger.formats.jsontext import read_json
    from tiger.placement.entry.report import SCHEMA as PLACEMENT
    from tiger.placement.entry.report import PlacementReport
    from tiger.planning.report import SCHEMA as PLAN
    from tiger.planning.report import PlanReport
    from tiger.rebalancing.report import SCHEMA as REBALANCING
    from tiger.rebalancing.report import RebalanceReport
    from tiger.run.report import SCHEMA as MAPPING
    from tiger.run.report import Report

    stated = read_json(text, FIELD)
    schema = stated.get("schema") if isinstance(stated, dict) else None
    match schema:
        case _ if schema == MAPPING:
            return explain_mapping(read_document(Report, text, FIELD))
        case _ if schema == CIRCUIT:
            return explain_circuit(read_document(CircuitReport, text, FIELD))
        case _ if schema == PLACEMENT:
            return explain_placement(read_document(PlacementReport, text, FIELD))
        case _ if schema == PLAN:
            return explain_plan(read_document(PlanReport, text, FIELD))
        case _ if schema == EXPERTS:
            return explain_experts(read_document(ExpertReport, text, FIELD))
        case _ if schema == REBALANCING:
            return explain_rebalancing(read_document(RebalanceReport, text, FIELD))
    known = ", ".join((MAPPING, CIRCUIT, PLACEMENT, PLAN, EXPERTS, REBALANCING))
    raise InputError(f"{FIELD}/schema", f"expected one of {known}, got {describe(schema)}")


def _read(source: str) -> str:
    """Return the text of a file, or of standard input for `-`; raise InputError of `report`."""
    from tiger.formats.text import read_file

    content = sys.stdin.buffer.read(MAX_BYTES + 1) if source == "-" else read_file(Path(source), FIELD, MAX_BYTES)
    if len(content) > MAX_BYTES:
        raise InputError(FIELD, f"expected at most {MAX_BYTES} bytes, got more on standard input")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(FIELD, f"expected UTF-8 text, got another byte at {error.start}") from None
