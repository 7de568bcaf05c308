"""Loads of experts: how many tokens go to each expert of each layer, from arrays, `.npy`, `.csv` and `.json` files."""

import csv
from io import StringIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tiger.errors import InputError
from tiger.expert_maps.replicas.loads import check_weight
from tiger.expert_maps.traces import map_array
from tiger.model.arrays import FloatArray
from tiger.model.jsontext import read_json
from tiger.model.text import is_number, read_text
from tiger.model.wording import describe

FIELD = "loads"
# The axes of one batch: layers and experts.
LAYER_AXES = 2
# Numbers of all batches: ten of the largest models, which take seconds to read.
NUMBERS_MAX = 2**22


def read_batches(source: object) -> FloatArray:
    """Return loads of batches, [batches, layers, experts], one batch where these are [layers, experts]."""
    loads = read_loads(source)
    return loads[None] if loads.ndim == LAYER_AXES else loads


def read_loads(source: object) -> FloatArray:
    """Return loads of a step, [layers, experts], or of several batches, the newest last, [batches, layers, experts].

    The source is an array or a file: `.npy`, `.csv` of one batch with a layer a line, or `.json` with lists of lists.
    Raises InputError of `loads`, a place in it or a line, or TypeError.
    """
    if isinstance(source, np.ndarray):
        return _check_array(source)
    if not isinstance(source, str | Path):
        raise TypeError(f"expected loads as an array or a path, got {type(source).__name__}")
    path = Path(source)
    match path.suffix.lower():
        case ".npy":
            return _check_array(map_array(path, FIELD))
        case ".csv":
            return check_weight(FIELD, _read_csv(read_text(path, FIELD)))
        case ".json":
            return _read_json(read_text(path, FIELD))
    raise InputError(FIELD, f"expected a file ending in .npy, .csv or .json, got {describe(str(source), 300)}")


def _check_array(array: NDArray[np.generic]) -> FloatArray:
    """Return the loads of an array of numbers, or raise InputError."""
    if array.dtype.kind not in "iuf":
        raise InputError(FIELD, f"expected numbers, got an array of {describe(str(array.dtype))}")
    return check_weight(FIELD, array) if array.ndim <= LAYER_AXES else _check_batches(array)


def _check_batches(array: NDArray[np.generic]) -> FloatArray:
    """Return loads of batches, or raise InputError of the first that is at fault."""
    if array.ndim != LAYER_AXES + 1 or not array.size:
        raise InputError(
            FIELD, f"expected numbers [layers, experts] or [batches, layers, experts], got shape {array.shape}"
        )
    if array.size > NUMBERS_MAX:
        raise InputError(FIELD, f"expected at most {NUMBERS_MAX:,} numbers, got shape {array.shape}")
    tables = np.array(array, np.float64)
    sound = (np.isfinite(tables) & (tables >= 0)).all(axis=(1, 2))
    # One after another takes a minute where batches are many and small.
    for batch in sorted({0, int(np.argmin(sound)), int(np.argmax(tables.max(axis=(1, 2))))}):
        check_weight(f"{FIELD}/{batch}", tables[batch])
    return tables


def _read_csv(text: str) -> FloatArray:
    """Return the numbers of a table, a layer a line."""
    layers: list[list[float]] = []
    reader = csv.reader(StringIO(text, newline=""), skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            words, line = [cell.strip() for cell in cells], f"line {reader.line_num}"
            if not any(words):
                continue
            other = next((word for word in words if not is_number(word)), None)
            if other is not None:
                raise InputError(FIELD, f"{line}: expected numbers, got {describe(other)}")
            if layers and len(words) != len(layers[0]):
                raise InputError(FIELD, f"{line}: expected {len(layers[0])} loads as in the first, got {len(words)}")
            layers.append([float(word) for word in words])
    except csv.Error as error:
        raise InputError(FIELD, f"line {reader.line_num}: expected CSV, got a fault: {error}") from None
    return np.array(layers)


def _read_json(text: str) -> FloatArray:
    """Return the numbers of a list of lists, a layer each, or of a list of those, a batch each."""
    document = read_json(text, FIELD)
    if not isinstance(document, list) or not document:
        raise InputError(FIELD, f"expected a list of layers, got {describe(document)}")
    first = document[0]
    if not isinstance(first, list) or not first or not isinstance(first[0], list):
        return check_weight(FIELD, _read_table(document, FIELD))
    tables = []
    for batch, rows in enumerate(document):
        if not isinstance(rows, list) or len(rows) != len(first):
            got = f"{len(rows)} items" if isinstance(rows, list) else describe(rows)
            raise InputError(f"{FIELD}/{batch}", f"expected as many layers as in the first batch, got {got}")
        tables.append(_read_table(rows, f"{FIELD}/{batch}"))
        if tables[0].shape != tables[-1].shape:
            what = f"expected {tables[0].shape[1]} loads a layer as in the first batch, got {tables[-1].shape[1]}"
            raise InputError(f"{FIELD}/{batch}", what)
    return _check_batches(np.array(tables))


def _read_table(rows: list[object], field: str) -> FloatArray:
    """Return the numbers of a list of lists, a layer each."""
    first = rows[0]
    for number, row in enumerate(rows):
        if not isinstance(row, list) or not isinstance(first, list) or len(row) != len(first):
            got = f"{len(row)} items" if isinstance(row, list) else describe(row)
            raise InputError(f"{field}/{number}", f"expected a list as long as the first, got {got}")
        for place, value in enumerate(row):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"{field}/{number}/{place}", f"expected a number, got {describe(value)}")
    try:
        return np.array(rows, np.float64)
    except OverflowError:
        raise InputError(field, "expected numbers within the range of float64, got others") from None
