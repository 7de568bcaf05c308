"""Requests as dataclasses that take known fields of the right types alone."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Self, TypeVar, cast

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    model_validator,
)
from pydantic.json_schema import JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema
from pydantic_core.core_schema import union_schema

from tiger.errors import InputError
from tiger.model.options import narrow

REFERENCE = "#/components/schemas/{model}"
# Of requests that state exactly one of their fields.
ONE_FIELD = ConfigDict(extra="forbid", strict=True, json_schema_extra={"minProperties": 1, "maxProperties": 1})
Kind = TypeVar("Kind")
ADAPTERS: dict[type[object], TypeAdapter[object]] = {}


def _keep_first_wrong(value: object) -> object:
    """Keep the first pin alone that is not to a name, if there is one, so that a flood of them is one error."""
    if not isinstance(value, dict):
        return value
    wrong = next((task for task, node in value.items() if not isinstance(node, str)), None)
    return value if wrong is None else {wrong: value[wrong]}


Start = Annotated[dict[str, str], BeforeValidator(_keep_first_wrong)]
Pins = Annotated[dict[str, str], BeforeValidator(_keep_first_wrong), Field(json_schema_extra={"default": {}})]


class Documented:
    """Document a value, which is checked where it is read, as one of some type; to be annotated with."""

    def __init__(self, kind: object) -> None:
        self.kind = kind

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the JSON schema of the type, a reference where it is one; in a union of one, as pydantic has it."""
        return handler(union_schema([TypeAdapter(self.kind).core_schema]))  # type: ignore[arg-type]  # a type, or a union


class Closed:
    """Refuse fields that are not known, and values of another type; a base of dataclasses."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    @classmethod
    def read(cls, data: object) -> Self:
        """Return the request that parsed JSON states; raise pydantic's ValidationError for a type or a bound.

        Bounds are `ge`, `gt`, `le` and `lt` in the metadata of the fields.
        """
        return cast(Self, _adapter(cls).validate_python(data))

    @property
    def plain(self) -> dict[str, object]:
        """Return, by their names, the values for which Python takes another form than JSON has; raise InputError."""
        return {}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[object], handler: GetCoreSchemaHandler) -> CoreSchema:
        """Take a JSON object for the dataclass itself, and be strict with its fields alone."""
        schema = handler(source)
        return cast(CoreSchema, {**schema, "strict": False}) if schema["type"] == "dataclass" else schema

    @model_validator(mode="before")
    @classmethod
    def _keep_first_unknown(cls, data: object) -> object:
        """Keep the first unknown field alone, if there is one, so that a flood of them is one error."""
        if not isinstance(data, dict):
            return data
        known = {field.name for field in fields(cls)}  # type: ignore[arg-type]  # those below are dataclasses
        unknown = next((name for name in data if name not in known), None)
        return {name: value for name, value in data.items() if name in known or name == unknown}


def take(kind: type[Kind], request: Closed, **changes: object) -> Kind:
    """Return the options of one kind that a request states, in the form that Python takes, some of them changed."""
    names = {field.name for field in fields(kind)} - changes.keys()  # type: ignore[arg-type]  # of dataclasses
    plain = {name: value for name, value in request.plain.items() if name in names}
    return narrow(kind, request, **plain, **changes)


def refer(name: str) -> dict[str, object]:
    """Return a reference to a component of the OpenAPI document."""
    return {"$ref": REFERENCE.format(model=name)}


def document_requests(kinds: Sequence[type["Closed"]]) -> dict[str, object]:
    """Return the components that requests are in an OpenAPI document, each by its name, and those they refer to."""
    modes: list[tuple[str, JsonSchemaMode, TypeAdapter[object]]]
    modes = [(kind.__name__, "validation", _adapter(kind)) for kind in kinds]
    _, schema = TypeAdapter.json_schemas(modes, ref_template=REFERENCE)
    return cast(dict[str, object], schema["$defs"])


def only_given(request: Closed) -> str:
    """Return the one field that a request states; raise InputError where it states none, or several."""
    known = [field.name for field in fields(request)]  # type: ignore[arg-type]  # those below Closed are dataclasses
    stated = [name for name in known if getattr(request, name) is not None]
    if len(stated) != 1:
        got = " and ".join(stated) or "none of them"
        raise InputError(stated[-1] if stated else "", f"expected one of {', '.join(known)}, got {got}")
    return stated[0]


def _adapter(kind: type[object]) -> TypeAdapter[object]:
    """Return what reads and documents a kind of request, made once."""
    if kind not in ADAPTERS:
        ADAPTERS[kind] = TypeAdapter(kind)
    return ADAPTERS[kind]
