"""Reports as a service sends them, made into those that a local run returns.

What JSON does not carry is missing: a CircuitReport has its `qasm` and no `circuit`, and a PlacementReport has a
`deployment`, which it emits plans from, also inside a PlanReport, only where model and cluster are at hand.
"""

from typing import TYPE_CHECKING, Any

from tiger.client.errors import Document, ServiceError
from tiger.run.use import Use
from tiger.uses import list_uses

if TYPE_CHECKING:
    from tiger.circuits.entry.report import CircuitReport
    from tiger.expert_maps.report import ExpertReport
    from tiger.placement.entry.report import PlacementReport
    from tiger.planning.report import PlanReport
    from tiger.run.report import Report

    AnyReport = Report | CircuitReport | PlacementReport | PlanReport | ExpertReport


def read_report(document: Document) -> "AnyReport":
    """Return the report of a document by its schema; raise ServiceError for one that is not known here."""
    for use in list_uses():
        if use.remote is not None and use.schema == document.get("schema"):
            report: AnyReport = read_as(use, document)
            return report
    raise ServiceError(None, "expected a report in a schema that this version of TIGER knows, got another")


def read_as(use: Use, document: Document) -> Any:
    """Return the report of a use that a document states; raise ServiceError for a document that states none."""
    try:
        if document["schema"] == use.schema:
            kind: Any = use.report.load()
            return kind.from_dict(document)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise ServiceError(None, f"expected a report in the schema {use.schema}, got something else")
