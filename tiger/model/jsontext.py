"""JSON as text."""

import json
from collections import Counter

from tiger.errors import InputError
from tiger.model.wording import describe


def read_json(text: str, field: str = "body") -> object:
    """Return the value of a JSON text; raise InputError of `field` for a text that is not JSON or repeats a key.

    NaN and Infinity become floats, which the checks of the values refuse where they matter.
    """
    try:
        return json.loads(text, object_pairs_hook=_check_distinct)
    except _RepeatedKeyError as error:
        raise InputError(field, f"expected different keys in an object, got {error} twice") from None
    except json.JSONDecodeError as error:
        raise InputError(field, f"expected JSON, got a fault at line {error.lineno}: {error.msg}") from None
    except RecursionError:
        raise InputError(field, "expected JSON, got one that is nested too deeply") from None
    except ValueError:
        raise InputError(field, "expected JSON, got a number of too many digits") from None


class _RepeatedKeyError(ValueError):
    """Carry the printable key that an object repeats."""


def _check_distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of pairs whose keys differ."""
    record = dict(pairs)
    if len(record) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise _RepeatedKeyError(describe(key))
    return record
