"""Objects and lists of a document: only the fields that are known, so that a misspelt one is never passed over."""

from collections.abc import Collection, Mapping

from tiger.errors import InputError
from tiger.model.values import read_name, suggest_name
from tiger.model.wording import describe


def check_record(field: str, value: object, known: Collection[str]) -> Mapping[str, object]:
    """Return an object whose fields are all known; raise InputError that names the first one that is not."""
    fields = check_names(field, value)
    for key in fields:
        if key not in known:
            raise InputError(
                field, f"expected no field but {', '.join(known)}, got {describe(key)}{suggest_name(key, known)}"
            )
    return fields


def check_names(field: str, value: object) -> Mapping[str, object]:
    """Return an object with any printable names or raise InputError."""
    if not isinstance(value, Mapping):
        raise InputError(field, f"expected an object, got {describe(value)}")
    return {read_name(field, key): entry for key, entry in value.items()}


def check_list(field: str, value: object) -> list[object]:
    """Return a list or raise InputError."""
    if not isinstance(value, list | tuple):
        raise InputError(field, f"expected a list, got {describe(value)}")
    return list(value)


def check_text(field: str, value: object) -> str:
    """Return text that is not blank or raise InputError."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(field, f"expected text, got {describe(value)}")
    return value


def require(field: str, fields: Mapping[str, object], name: str) -> object:
    """Return a field of an object, or raise InputError of that field where it is missing."""
    if name not in fields:
        raise InputError(f"{field}/{name}", "expected this field, got none")
    return fields[name]


def name_field(error: InputError, names: Mapping[str, str]) -> InputError:
    """Return an error whose field, or the one that it lies in, is called by another name: that of the first match."""
    for inner, outer in names.items():
        if error.field == inner or error.field.startswith(f"{inner}/"):
            return InputError(f"{outer}{error.field[len(inner) :]}", error.reason)
    return error
