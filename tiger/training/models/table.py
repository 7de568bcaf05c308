"""Plain tables of layers, as CSV or JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.values import check_flag, check_whole, read_name, suggest_name
from tiger.model.wording import describe
from tiger.training.models.columns import COLUMNS, REQUIRED, Row, costs_of, kind_of
from tiger.training.models.csvrows import rows_of_csv
from tiger.training.models.layers import Layers
from tiger.training.models.limits import LAYER_LIMIT, check_size
from tiger.training.models.order import CycleError, topological_order

Ends = tuple[IntArray, IntArray]
KEYS = ("layers", "edges", "tied", "scattered", "slices")


def layers_of_csv(text: str, max_layers: int = LAYER_LIMIT) -> Layers:
    """Return the L layers of a table with a header, a chain in the order of its rows.

    Columns are `name`, `forward_s`, `backward_s`, `parameter_bytes` and `activation_bytes` (what the layer sends on),
    and where wanted `weight_s`, `gradient_bytes`, `state_bytes`, `held_bytes` (default: what it sends on),
    `reduced_bytes`, `reductions`, `kind` and `module`, which mean what they do in Layers. A cell may be empty where
    there is a default. Layers of a table with `reduced_bytes` can be cut among tensor-parallel ranks. O(L). Raises
    InputError, with row k below the header as `model/layers/k`.
    """
    rows = rows_of_csv(text, max_layers)
    names = _names(rows)
    return _layers(rows, names, _chain(len(names)), [])


def layers_of_table(document: object, max_layers: int = LAYER_LIMIT) -> Layers:
    """Return the L layers of `{"layers": [..], "edges": [[name, name], ..], "tied": [[name, ..], ..]}` or of a list.

    A layer is an object with the columns of a CSV table as keys. Without `edges` they are a chain in the order of the
    table; with them a layer sends to the layers named beside it, and of those that could come next the first in the
    table comes first. The layers of a group of `tied` share the parameters of the first. `"scattered": true` says that
    tensor-parallel ranks reduce-scatter and gather what they would all-reduce, and `slices` what number they divide.
    O((L + edges) log L). Raises InputError.
    """
    record = document if isinstance(document, dict) else {"layers": document}
    unknown = next((key for key in record if key not in KEYS), None)
    if unknown is not None:
        raise InputError("model", f"expected {', '.join(KEYS)}, got {describe(unknown)}{suggest_name(unknown, KEYS)}")
    listed = _list("model/layers", record.get("layers"))
    check_size("model/layers", len(listed), max_layers)
    rows = [_row(k, value) for k, value in enumerate(listed)]
    names = _names(rows)
    ends = _edges(record["edges"], names) if "edges" in record else _chain(len(names))
    layers = _layers(rows, names, ends, _tied_rows(record.get("tied", []), names))
    return replace(
        layers,
        scattered=check_flag("model/scattered", record.get("scattered", False)),
        slices=check_whole("model/slices", record["slices"]) if "slices" in record else layers.slices,
    )


def _row(k: int, value: object) -> Row:
    """Return an object of a JSON table."""
    if not isinstance(value, dict):
        raise InputError(f"model/layers/{k}", f"expected an object with {', '.join(REQUIRED)}, got {describe(value)}")
    unknown = next((key for key in value if key not in COLUMNS), None)
    if unknown is not None:
        raise InputError(
            f"model/layers/{k}",
            f"expected keys out of {', '.join(COLUMNS)}, got {describe(unknown)}{suggest_name(unknown, COLUMNS)}",
        )
    return value


def _names(rows: Sequence[Row]) -> dict[str, int]:
    """Return the row of every name."""
    if not rows:
        raise InputError("model/layers", "expected at least one layer, got none")
    names: dict[str, int] = {}
    for k, row in enumerate(rows):
        field = f"model/layers/{k}/name"
        # An empty name could not be pinned, nor found in a report.
        name = read_name(field, row["name"]) if "name" in row else ""
        if not name:
            raise InputError(field, "expected a name, got none")
        if name in names:
            raise InputError(field, f"expected different names, got {describe(name)} twice")
        names[name] = k
    return names


def _chain(size: int) -> Ends:
    """Return the edges from every row to the next."""
    return np.arange(size - 1), np.arange(1, size)


def _edges(value: object, names: Mapping[str, int]) -> Ends:
    """Return the rows at both ends of stated edges."""
    pairs = [_group(f"model/edges/{k}", pair, names) for k, pair in enumerate(_list("model/edges", value))]
    odd = next((k for k, pair in enumerate(pairs) if len(pair) != 2), None)
    if odd is not None:
        raise InputError(f"model/edges/{odd}", f"expected two names, got {len(pairs[odd])}")
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def _tied_rows(value: object, names: Mapping[str, int]) -> list[list[int]]:
    """Return the rows of groups of two or more layers, no layer twice."""
    groups: list[list[int]] = []
    seen: set[int] = set()
    for k, group in enumerate(_list("model/tied", value)):
        members = _group(f"model/tied/{k}", group, names)
        if len(members) < 2 or len(set(members)) < len(members) or not seen.isdisjoint(members):
            raise InputError(f"model/tied/{k}", "expected two layers or more, each in this group alone")
        seen.update(members)
        groups.append(members)
    return groups


def _group(field: str, value: object, names: Mapping[str, int]) -> list[int]:
    """Return the rows of a list of names."""
    members = [read_name(field, member) for member in _list(field, value)]
    unknown = next((member for member in members if member not in names), None)
    if unknown is not None:
        raise InputError(field, f"expected names of layers, got {describe(unknown)}")
    return [names[member] for member in members]


def _list(field: str, value: object) -> list[object]:
    """Return a list or raise InputError."""
    if not isinstance(value, list):
        raise InputError(field, f"expected a list, got {describe(value)}")
    return value


def _layers(rows: Sequence[Row], names: Mapping[str, int], ends: Ends, tied: list[list[int]]) -> Layers:
    """Return rows in the order of the pipeline."""
    labels = list(names)
    costs = costs_of(rows)
    try:
        order = topological_order(range(len(rows)), *ends)
    except CycleError as error:
        reason = f"expected a graph without cycles, got one through {describe(labels[error.node])}"
        raise InputError("model/edges", reason) from None
    place = np.argsort(order)
    return Layers(
        names=tuple(labels[k] for k in order),
        forward_s=costs["forward_s"][order],
        backward_s=costs["backward_s"][order],
        weight_s=costs["weight_s"][order],
        parameter_bytes=costs["parameter_bytes"][order],
        gradient_bytes=costs["gradient_bytes"][order],
        state_bytes=costs["state_bytes"][order],
        held_bytes=costs["held_bytes"][order],
        reduced_bytes=costs["reduced_bytes"][order],
        reductions=costs["reductions"][order],
        crossing_bytes=Layers.crossing(costs["activation_bytes"][order], place[ends[0]], place[ends[1]]),
        kinds=tuple(kind_of(k, rows[k]) for k in order),
        modules=tuple(read_name(f"model/layers/{k}/module", rows[k].get("module", labels[k])) for k in order),
        tied=tuple(tuple(place[group].tolist()) for group in tied),
        slices=0 if any("reduced_bytes" in row for row in rows) else 1,
    )
