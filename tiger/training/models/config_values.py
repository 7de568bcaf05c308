"""The values of a configuration, checked one by one."""

from collections.abc import Mapping

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.training.models.shape import NUMBER_LIMIT


def count_of(document: Mapping[str, object], key: str, default: int | None = None, least: int = 1) -> int:
    """Return a whole number of a configuration; raise InputError that names its key."""
    value = document.get(key, default)
    if value is None and default is not None:
        value = default
    if type(value) is not int or not least <= value <= NUMBER_LIMIT:
        got = "none" if value is None else describe(value)
        raise InputError(f"model/{key}", f"expected a whole number from {least} to {NUMBER_LIMIT}, got {got}")
    return value


def flag_of(document: Mapping[str, object], key: str, default: bool) -> bool:  # noqa: FBT001  # a value, not a mode
    """Return a truth value of a configuration; raise InputError that names its key."""
    value = default if document.get(key) is None else document[key]
    if not isinstance(value, bool):
        raise InputError(f"model/{key}", f"expected true or false, got {describe(value)}")
    return value
