"""Dataclasses as documents: what strict JSON says of them, and back.

Every field is a member of the document, in order, under its own name unless its metadata say otherwise. Figures that
are not finite are null there.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields
from types import NoneType, UnionType
from typing import Self, Union, cast, get_args, get_origin

# Metadata of a field that no document has, of one whose members stand among those of the document, and of one whose
# infinite values are null.
HIDDEN, INLINE, INFINITE = {"hidden": True}, {"inline": True}, {"infinite": True}
# Metadata of a field that documents of earlier versions do not state, which has its default there.
LATER = {"later": True}
# Metadata that name a field otherwise in documents, and that document it by another type with the same members.
KEY, LIKE = "key", "like"


class Document:
    """Be a dataclass that has the form of a document."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Return the members by name, as plain values that serialise to strict JSON."""
        document: dict[str, object] = {}
        for name, field in members(type(self)):
            value = _write(getattr(self, field.name))
            document |= cast(dict[str, object], value) if field.metadata.get("inline") else {name: value}
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, object]) -> Self:
        """Return an instance from the members of a document; unknown ones are passed over.

        One that came `LATER` and is missing has its default. Raises KeyError, TypeError, ValueError or AttributeError
        for one that states something else.
        """
        given: dict[str, object] = {}
        known = {name for name, _ in members(cls)}
        for name, field in members(cls):
            if field.init and field.metadata.get("inline"):
                rest = {other: value for other, value in document.items() if other not in known - {name}}
                given[field.name] = _read(field.type, rest)
            elif field.init and (name in document or not field.metadata.get("later")):
                infinite = document[name] is None and field.metadata.get("infinite")
                given[field.name] = math.inf if infinite else _read(field.type, document[name])
        return cls(**given)


def members(kind: type) -> Iterator[tuple[str, "Field[object]"]]:
    """Yield the fields of a dataclass that documents have, by the names they have there."""
    for field in fields(kind):
        if not field.metadata.get("hidden"):
            yield field.metadata.get(KEY, field.name), field


def _write(value: object) -> object:
    """Return a value as JSON knows it: dict, list, None for a number that is not finite."""
    if isinstance(value, Document):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(name): _write(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        # Texts alone, as there may be a million, are as they are.
        return list(value) if set(map(type, value)) == {str} else [_write(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _read(kind: object, value: object) -> object:
    """Return a value of JSON as a field of some type has it."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        known = [part for part in parts if part is not NoneType]
        return None if value is None else _read(known[0] if len(known) == 1 else object, value)
    if origin is tuple and parts[-1] is ...:
        return tuple(_read(parts[0], item) for item in cast(list[object], value))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        items = cast(Mapping[str, object], value).items()
        return {int(name) if parts[0] is int else name: _read(parts[1], item) for name, item in items}
    if isinstance(kind, type) and issubclass(kind, Document):
        return kind.from_dict(cast(Mapping[str, object], value))
    return _freeze(value)


def _freeze(value: object) -> object:
    """Return a value with tuples for lists."""
    if isinstance(value, Mapping):
        return {name: _freeze(item) for name, item in value.items()}
    return tuple(map(_freeze, value)) if isinstance(value, list) else value
