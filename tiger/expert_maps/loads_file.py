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


def read_loads(source: object) -> FloatArray:
    """Return loads [layers, experts] of a step; raise InputError of `loads`, a place in it or a line, or TypeError.

    The source is an array or a file: `.npy`, `.csv` with a layer a line, or `.json` with a list of lists.
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
            return check_weight(FIELD, _read_json(read_text(path, FIELD)))
    raise InputError(FIELD, f"expected a file ending in .npy, .csv or .json, got {describe(str(source), 300)}")


def _check_array(array: NDArray[np.generic]) -> FloatArray:
    """Return the loads of an array of numbers, or raise InputError."""
    if array.dtype.kind not in "iuf":
        raise InputError(FIELD, f"expected numbers, got an array of {describe(str(array.dtype))}")
    return check_weight(FIELD, array)


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
    """Return the numbers of a list of lists, a layer each."""
    document = read_json(text, FIELD)
    if not isinstance(document, list) or not document:
        raise InputError(FIELD, f"expected a list of layers, got {describe(document)}")
    for number, row in enumerate(document):
        if not isinstance(row, list) or len(row) != len(document[0]):
            got = f"{len(row)} items" if isinstance(row, list) else describe(row)
            raise InputError(f"{FIELD}/{number}", f"expected a list as long as the first, got {got}")
        for place, value in enumerate(row):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"{FIELD}/{number}/{place}", f"expected a number, got {describe(value)}")
    try:
        return np.array(document, np.float64)
    except OverflowError:
        raise InputError(FIELD, "expected numbers within the range of float64, got others") from None
