"""Reports as a service sends them, made into those that a local run returns.

What JSON does not carry is missing: a CircuitReport has its `qasm` and no `circuit`, and a PlacementReport has a
`deployment`, which it emits plans from, also inside a PlanReport, only where model and cluster are at hand.
"""

from typing import TypeVar

from tiger.circuits.entry.report import SCHEMA as CIRCUIT
from tiger.circuits.entry.report import CircuitReport
from tiger.client.errors import Document, ServiceError
from tiger.expert_maps.report import SCHEMA as EXPERTS
from tiger.expert_maps.report import ExpertReport
from tiger.model import document as documents
from tiger.placement.entry.report import SCHEMA as PLACEMENT
from tiger.placement.entry.report import PlacementReport
from tiger.planning.report import SCHEMA as PLAN
from tiger.planning.report import PlanReport
from tiger.run.report import SCHEMA as ASSIGNMENT
from tiger.run.report import Report

AnyReport = Report | CircuitReport | PlacementReport | PlanReport | ExpertReport
Answer = TypeVar("Answer", bound=documents.Document)
KINDS: dict[str, type[AnyReport]] = {
    ASSIGNMENT: Report,
    CIRCUIT: CircuitReport,
    PLACEMENT: PlacementReport,
    PLAN: PlanReport,
    EXPERTS: ExpertReport,
}


def read_report(document: Document) -> AnyReport:
    """Return the report of a document by its schema; raise ServiceError for one that is not known here."""
    schema = str(document.get("schema"))
    if schema not in KINDS:
        raise ServiceError(None, "expected a report in a schema that this version of TIGER knows, got another")
    return _read(KINDS[schema], schema, document)


def read_assignment(document: Document) -> Report:
    """Return a report of tasks; raise ServiceError for a document that is none."""
    return _read(Report, ASSIGNMENT, document)


def read_circuit(document: Document) -> CircuitReport:
    """Return a report of a circuit, without the circuit object; raise ServiceError for a document that is none."""
    return _read(CircuitReport, CIRCUIT, document)


def read_placement(document: Document) -> PlacementReport:
    """Return a report of a pipeline, without its deployment; raise ServiceError for a document that is none."""
    return _read(PlacementReport, PLACEMENT, document)


def read_plan(document: Document) -> PlanReport:
    """Return a report of plans, without the deployment of the best; raise ServiceError for a document that is none."""
    return _read(PlanReport, PLAN, document)


def read_experts(document: Document) -> ExpertReport:
    """Return a report of experts, without transitions; raise ServiceError for a document that is none."""
    return _read(ExpertReport, EXPERTS, document)


def _read(kind: type[Answer], schema: str, document: Document) -> Answer:
    """Return the report that a document in a schema states."""
    try:
        if document["schema"] == schema:
            return kind.from_dict(document)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise ServiceError(None, f"expected a report in the schema {schema}, got something else")
