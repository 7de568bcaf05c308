"""Requests of a service: the arguments of the local entries, read here and stated as documents.

The room of each use states them (`tiger.run.use.Remote`).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from tiger.circuits.entry.arguments import LayoutArguments
from tiger.circuits.entry.report import CircuitReport
from tiger.client.errors import Document
from tiger.client.reports import read_as
from tiger.client.uploads import refer_to_uploads
from tiger.errors import InputError
from tiger.expert_maps.arguments import ExpertArguments
from tiger.expert_maps.report import ExpertReport
from tiger.mapping.options import AssignArguments
from tiger.model.options import from_fields
from tiger.placement.entry.arguments import PlaceArguments
from tiger.placement.entry.report import PlacementReport
from tiger.planning.arguments import PlanArguments
from tiger.planning.report import PlanReport
from tiger.run.report import Report
from tiger.uses import list_uses

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Asked(Generic[Result]):
    """Hold a request: the path of its route, the JSON of its body, and how to read the report that answers it."""

    path: str
    body: bytes
    read: Callable[[Document], Result]


def ask(name: str, arguments: object) -> Asked[Any]:
    """Return the request of a use by its name, for its arguments; raise as the function of that name does."""
    use, remote = next((use, use.remote) for use in list_uses() if use.name == name and use.remote is not None)
    call = remote.state.load()(arguments)
    body = body_of(refer_to_uploads(call.document, arguments))
    return Asked(remote.path, body, lambda answer: call.complete(read_as(use, answer)))


@from_fields(AssignArguments)
def assignment(arguments: AssignArguments) -> Asked[Report]:
    """Ask what `tiger.assign` answers for the same arguments; files are read and the problem is checked here.

    Raises as `tiger.assign` does, and InputError for what no service takes: an executor, a sampler object, distances
    without links, sizes in `ising`.
    """
    return ask("assign", arguments)


@from_fields(LayoutArguments)
def circuit_layout(arguments: LayoutArguments) -> Asked[CircuitReport]:
    """Ask what `tiger.layout` answers for the same arguments; files are read here, and circuits written as OpenQASM.

    Raises as `tiger.layout` does for what cannot be read, and InputError for what no service takes: several `threads`.
    """
    return ask("layout", arguments)


@from_fields(PlaceArguments)
def placement(arguments: PlaceArguments) -> Asked[PlacementReport]:
    """Ask what `tiger.place` answers for the same arguments; files are read here.

    The report emits and draws plans as a local one does. Raises as `tiger.place` does for what cannot be read.
    """
    return ask("place", arguments)


@from_fields(PlanArguments)
def planning(arguments: PlanArguments) -> Asked[PlanReport]:
    """Ask what `tiger.plan` answers for the same arguments; files are read here.

    The report emits its best plan as a local one does. Raises as `tiger.plan` does for what cannot be read.
    """
    return ask("plan", arguments)


@from_fields(ExpertArguments)
def expert_placement(arguments: ExpertArguments) -> Asked[ExpertReport]:
    """Ask what `tiger.experts` answers for the same arguments; files are read here.

    The report has no transitions to draw. Raises as `tiger.experts` does.
    """
    return ask("experts", arguments)


def body_of(document: Mapping[str, object]) -> bytes:
    """Return a document as strict JSON without the fields that are None, which no request has to state."""
    stated = {name: value for name, value in document.items() if value is not None}
    try:
        return json.dumps(stated, allow_nan=False, separators=(",", ":"), default=_plain_value).encode()
    except ValueError as error:
        raise InputError("body", f"expected what JSON can say, got something else: {error}") from None


def _plain_value(value: object) -> object:
    """Return what JSON knows of a value: the number that one of numpy is, and any mapping as a dict."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"expected what JSON can say, got a value of type {type(value).__name__}")
