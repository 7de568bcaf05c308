"""Checks of values that came out of a document: numbers, flags, node ids, lists of objects."""

import math
from collections.abc import Collection
from difflib import get_close_matches
from numbers import Real

from tiger.errors import InputError
from tiger.model.wording import describe

# Whole numbers below are exact in float64, and the same in every reader of JSON.
WHOLE_LIMIT = 2**53
# Tuples within tuples of an id, as graphs of products of graphs have them.
NAME_DEPTH = 8


def check_amount(field: str, value: object) -> float:
    """Return a finite number >= 0 or raise InputError."""
    number = _number(value)
    if not (math.isfinite(number) and number >= 0):
        raise InputError(field, f"expected a finite number >= 0, got {describe(value)}")
    return number


def check_positive(field: str, value: object) -> float:
    """Return a finite number > 0 or raise InputError."""
    number = _number(value)
    if not (math.isfinite(number) and number > 0):
        raise InputError(field, f"expected a finite number > 0, got {describe(value)}")
    return number


def check_whole(field: str, value: object) -> int:
    """Return a whole number >= 0 below 2**53 or raise InputError; 3.0 is whole."""
    number = _number(value)
    if not (0 <= number < WHOLE_LIMIT and number == math.floor(number)):
        raise InputError(field, f"expected a whole number from 0 to 2**53 - 1, got {describe(value)}")
    return int(number)


def check_flag(field: str, value: object) -> bool:
    """Return a truth value or raise InputError."""
    if not isinstance(value, bool):
        raise InputError(field, f"expected true or false, got {describe(value)}")
    return value


def suggest_name(name: object, known: Collection[str]) -> str:
    """Return a question for the known name that an unknown one is most like, to end a sentence; empty if none is."""
    matches = get_close_matches(name, known, 1) if isinstance(name, str) else []
    return f"; did you mean {matches[0]!r}?" if matches else ""


def read_name(field: str, identity: object) -> str:
    """Return the name of a node id: its text, the parts of a list or tuple joined by commas.

    Raises InputError for an id that is not text, a finite number or a list of such ids.
    """
    if type(identity) is int and abs(identity) < WHOLE_LIMIT:
        return str(identity)
    return ",".join(_parts(field, identity, NAME_DEPTH))


def check_records(field: str, value: object) -> list[dict[str, object]]:
    """Return a list of objects or raise InputError."""
    if not isinstance(value, list):
        raise InputError(field, f"expected a list, got {'nothing' if value is None else describe(value)}")
    for k, item in enumerate(value):
        if not isinstance(item, dict):
            raise InputError(f"{field}/{k}", f"expected an object, got {describe(item)}")
    return value


def _number(value: object) -> float:
    """Return a number as float, NaN for what is none and infinity for one beyond the range of float64."""
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, int | Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _printable(field: str, text: str) -> str:
    """Return text that can be written out again."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(field, f"expected Unicode text, got {describe(text)} with half a surrogate pair") from None
    return text


def _parts(field: str, identity: object, depth: int) -> list[str]:
    """Return the texts that make up an id."""
    if isinstance(identity, str):
        return [_printable(field, identity)]
    if isinstance(identity, list | tuple) and identity and depth:
        return [part for inner in identity for part in _parts(field, inner, depth - 1)]
    if math.isfinite(_number(identity)):
        return [str(identity)]
    raise InputError(field, f"expected an id (text, a number or a list of those), got {describe(identity)}")
