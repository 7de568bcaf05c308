"""The answers: reports, documented as what their dataclasses make of themselves in JSON."""

import json
from collections.abc import Mapping
from dataclasses import Field as DataclassField
from inspect import getdoc
from types import NoneType, UnionType
from typing import Annotated, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError, create_model
from pydantic_core import CoreSchema

from tiger.circuits.entry.report import CircuitReport
from tiger.errors import InputError
from tiger.expert_maps.report import ExpertReport
from tiger.model.document import LIKE, Document, members
from tiger.model.wording import describe
from tiger.placement.entry.report import PlacementReport
from tiger.planning.report import PlanReport
from tiger.run.report import Report

Kind = TypeVar("Kind", bound=Document)
MODELS: dict[type[Document], type[BaseModel]] = {}


class AsDocument:
    """Have pydantic take a dataclass for the document that it becomes; to be annotated with."""

    def __get_pydantic_core_schema__(self, source: type[Document], handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the document."""
        return handler(model_of(source))


ReportBody = Annotated[Report, AsDocument()]
CircuitBody = Annotated[CircuitReport, AsDocument()]
PlacementBody = Annotated[PlacementReport, AsDocument()]
PlanBody = Annotated[PlanReport, AsDocument()]
ExpertBody = Annotated[ExpertReport, AsDocument()]


def model_of(kind: type[Document]) -> type[BaseModel]:
    """Return the model of a document, with one field for each of its members, made once."""
    if kind not in MODELS:
        stated = _spread(kind)
        further = [name for name, field in stated.items() if field.metadata.get("inline")]
        # A member may have the name of a method of all models.
        fields: dict[str, tuple[object, object]] = {
            f"{name}_": (_type_of(field), Field(alias=name, title=name.replace("_", " ").title()))
            for name, field in stated.items()
            if name not in further
        }
        config = ConfigDict(extra="allow" if further else "forbid", title=kind.__name__)
        doc = getdoc(kind)
        MODELS[kind] = create_model(kind.__name__, __config__=config, __doc__=doc, **fields)  # type: ignore[call-overload]
    return MODELS[kind]


def _spread(kind: type[Document]) -> dict[str, "DataclassField[object]"]:
    """Return the members of a document, with those of another document that stand among them."""
    stated: dict[str, DataclassField[object]] = {}
    for name, field in members(kind):
        inner = field.type if field.metadata.get("inline") else None
        stated |= _spread(inner) if isinstance(inner, type) and issubclass(inner, Document) else {name: field}
    return stated


def read_document(kind: type[Kind], text: str, field: str) -> Kind:
    """Return what a JSON text states; raise InputError of the first member at fault, below `field`.

    Members that are not known here are passed over, as those that a later version adds, and those that an earlier one
    did not write have their defaults.
    """
    try:
        model_of(kind).model_validate_json(text, strict=True)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            absent = fault["type"] == "missing"
            if fault["type"] == "extra_forbidden" or (absent and _may_be_absent(kind, fault["loc"])):
                continue
            reason = f"{fault['msg'].replace('Input should be', 'expected')}, got {describe(fault['input'])}"
            where = "/".join(map(str, (field, *fault["loc"])))
            raise InputError(where, "expected it, got none" if absent else reason) from None
    try:
        return kind.from_dict(json.loads(text, parse_constant=_refuse_constant))
    except (ArithmeticError, ValueError):
        raise InputError(field, "expected finite figures that go together, got some that do not") from None


def _may_be_absent(kind: type[Document], place: tuple[int | str, ...]) -> bool:
    """Return whether a document need not have the member at a place: one that came later."""
    *way, last = place
    inside: type[Document] | None = kind
    for step in way:
        known = dict(members(inside)) if inside is not None else {}
        inside = _document_in(known[step].type) if step in known else inside
    found = None if inside is None else _spread(inside).get(str(last))
    return found is not None and bool(found.metadata.get("later"))


def _document_in(annotation: object) -> type[Document] | None:
    """Return the kind of document that a type is, or has parts of, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, Document):
        return annotation
    return next((found for part in get_args(annotation) if (found := _document_in(part)) is not None), None)


def _refuse_constant(name: str) -> None:
    """Refuse NaN and infinities, which no report has."""
    raise ValueError(name)


def _type_of(field: "DataclassField[object]") -> object:
    """Return the type of a member, which is null where a figure may be infinite."""
    found = _json_type(field.metadata.get(LIKE, field.type))
    return found | None if field.metadata.get("infinite") else found  # type: ignore[operator]  # a type, or a union


def _json_type(kind: object) -> object:
    """Return the type that a value of another has in JSON."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        known = tuple(_json_type(part) for part in parts if part is not NoneType)
        return Union[(*known, None)] if len(known) < len(parts) else Union[known]  # noqa: UP007 (not known before)
    if origin is tuple:
        return list[_json_type(parts[0])]  # type: ignore[misc]  # not known before
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str if parts[0] is int else parts[0], _json_type(parts[1])]  # type: ignore[misc]  # as above
    if isinstance(kind, type) and issubclass(kind, Document):
        return model_of(kind)
    return kind
