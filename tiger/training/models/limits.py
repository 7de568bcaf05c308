"""How large a model, and a number in it, may be."""

from tiger.errors import InputError
from tiger.formats.quantity import Dimension, convert_quantity
from tiger.model.values import check_amount
from tiger.model.wording import describe
from tiger.training.hardware.limits import COST_LIMIT

# Sizes up to which models are read: larger uploads are refused before anything large is made.
LAYER_LIMIT = 200_000
OPERATOR_LIMIT = 1_000_000


def check_size(field: str, count: int, limit: int, what: str = "layers") -> None:
    """Raise InputError of a field that states more of something than allowed."""
    if count > limit:
        raise InputError(field, f"expected at most {limit} {what}, got more")


def check_cost(field: str, value: object) -> float:
    """Return a number of seconds or bytes, small enough to be added up and multiplied, or raise InputError."""
    name = field.rpartition("/")[2]
    dimension: Dimension | None = "bytes" if name.endswith("_bytes") else None
    if name.endswith(("_s", "seconds")):
        dimension = "seconds"
    number = check_amount(field, value if dimension is None else convert_quantity(field, value, dimension))
    if number > COST_LIMIT:
        raise InputError(field, f"expected a number from 0 to {COST_LIMIT:g}, got {describe(value)}")
    return number
