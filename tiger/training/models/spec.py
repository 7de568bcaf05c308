"""Shapes of transformers as documents, and as SPEC: a short text such as `transformer:layers=24,hidden=1024,..`."""

from dataclasses import MISSING, fields

from tiger.errors import InputError
from tiger.model.text import is_number
from tiger.model.values import suggest_name
from tiger.model.wording import describe
from tiger.training.models.shape import FIELD, Shape

PREFIX = "transformer:"
SYNTAX = f"{PREFIX}layers=24,hidden=1024,heads=16,vocabulary=50257,sequence=2048,flops=4e14"
KEYS = tuple(field.name for field in fields(Shape))
REQUIRED = tuple(field.name for field in fields(Shape) if field.default is MISSING)
_FLAGS = {"true": True, "false": False}
# Longer words stay text, as numbers they could take long to convert.
_DIGITS = 32


def values_of_spec(text: str) -> dict[str, object]:
    """Return the values by key that a text states as `key=value,..`; raise InputError."""
    given: dict[str, object] = {}
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or key in given:
            what = "each key once" if equals else "KEY=VALUE"
            raise InputError(FIELD, f"expected {what} in a SPEC such as {SYNTAX}, got {describe(part)}")
        given[key] = _value(value)
    return given


def shape_of_document(document: object) -> Shape:
    """Return the shape that an object states by the names of its numbers; raise InputError that names the key."""
    if not isinstance(document, dict):
        raise InputError(FIELD, f"expected an object with {', '.join(REQUIRED)}, got {describe(document)}")
    unknown = next((key for key in document if key not in KEYS), None)
    if unknown is not None:
        reason = f"expected keys out of {', '.join(KEYS)}, got {describe(unknown)}{suggest_name(unknown, KEYS)}"
        raise InputError(FIELD, reason)
    missing = next((key for key in REQUIRED if key not in document), None)
    if missing is not None:
        raise InputError(f"{FIELD}/{missing}", "expected a whole number, got none")
    return Shape(**document)


def _value(word: str) -> object:
    """Return the value of a word of a SPEC: a truth value, a number, or the word."""
    if word in _FLAGS:
        return _FLAGS[word]
    if len(word) > _DIGITS or not is_number(word):
        return word
    return int(word) if word.isdecimal() else float(word)
