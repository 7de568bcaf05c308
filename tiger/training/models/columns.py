"""The columns of a table of layers, and the defaults of those that it leaves out."""

from collections.abc import Mapping, Sequence
from typing import get_args

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.model.wording import describe
from tiger.training.models.layers import WEIGHT_SHARE, LayerKind
from tiger.training.models.limits import check_cost

REQUIRED = ("name", "forward_s", "backward_s", "parameter_bytes", "activation_bytes")
# A column left out is this many times another one.
DEFAULTS = {
    "weight_s": ("backward_s", WEIGHT_SHARE),
    "gradient_bytes": ("parameter_bytes", 1.0),
    "state_bytes": ("parameter_bytes", 1.0),
    "held_bytes": ("activation_bytes", 1.0),
    "reduced_bytes": ("activation_bytes", 0.0),
    "reductions": ("activation_bytes", 0.0),
}
COSTS = (*REQUIRED[1:], *DEFAULTS)
COLUMNS = (*REQUIRED, *DEFAULTS, "kind", "module")
KINDS: dict[object, LayerKind] = {kind: kind for kind in get_args(LayerKind)}
Row = Mapping[str, object]


def costs_of(rows: Sequence[Row]) -> dict[str, FloatArray]:
    """Return the numbers of all rows by column, defaults filled in; raise InputError with row k as `model/layers/k`."""
    costs: dict[str, FloatArray] = {}
    # Every column stands behind the one it is a multiple of.
    for column in COSTS:
        base, share = DEFAULTS.get(column, (None, 0.0))
        default = None if base is None else costs[base] * share
        costs[column] = np.array(
            [_cost_of(k, row, column, None if default is None else float(default[k])) for k, row in enumerate(rows)]
        )
    above = np.flatnonzero(costs["weight_s"] > costs["backward_s"])
    if above.size:
        raise InputError(f"model/layers/{above[0]}/weight_s", "expected no more than backward_s, got more")
    return costs


def kind_of(k: int, row: Row) -> LayerKind:
    """Return the kind of row k, by default that of most layers."""
    given = row.get("kind", "layer")
    if not isinstance(given, str) or given not in KINDS:
        raise InputError(
            f"model/layers/{k}/kind", f"expected one of {', '.join(map(str, KINDS))}, got {describe(given)}"
        )
    return KINDS[given]


def _cost_of(k: int, row: Row, column: str, default: float | None) -> float:
    """Return a number of row k."""
    if column in row:
        return check_cost(f"model/layers/{k}/{column}", row[column])
    if default is None:
        raise InputError(f"model/layers/{k}/{column}", "expected a number, got none")
    return default
