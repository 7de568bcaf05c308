"""Task graphs as communication matrices in text (`.csv`)."""

import csv
from io import StringIO

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.tasks import TaskGraph
from tiger.model.text import is_number, read_amounts
from tiger.model.wording import describe

SEPARATORS = ",;\t"
# What `cube_dump -s csv2` begins with: a table of call paths and threads, which may be as high as it is wide.
PROFILE = "Cnode ID"
Rows = list[list[str]]


def read_task_graph(text: str) -> TaskGraph:
    """Return the directed task graph of an n x n matrix: row u, column v is the traffic from u to v.

    Cells are separated by commas, semicolons, tabs or blanks. A header row, a first column of names, or both may stand
    around the n x n numbers, and must agree; one without the other may not be all numbers; the cell in their corner is
    ignored and may be missing. Without names tasks are `0` to `n-1`. Raises InputError of `tasks` with the row at
    fault, and for the table that cube_dump makes of a CubeX profile of Score-P.
    """
    rows = read_rows("tasks", text)
    if rows[0][0] == PROFILE:
        what = "expected a row for every sender and a column for every receiver"
        raise InputError("tasks", f"{what}, got a CubeX profile, which says what is sent and not to whom")
    height, width = len(rows), len(rows[0])
    framed = height == width and not all(map(is_number, rows[0]))
    top, left = framed or height == width + 1, framed or width == height + 1
    if height - top != width - left or height == top:
        raise InputError("tasks", f"expected a square matrix, got {height} rows of {width} cells")
    body = [read_amounts("tasks", f"matrix row {k}", row[left:]) for k, row in enumerate(rows[top:], 1)]
    header = rows[0][left:] if top else []
    column = [row[0] for row in rows[top:]] if left else []
    if top != left and all(map(is_number, header or column)):
        raise InputError("tasks", f"expected a square matrix, got {height} rows of {width} numbers")
    for above, beside in zip(header, column, strict=False):
        if above != beside:
            what = "expected numbers alone, or the same names in the first row and the first column"
            raise InputError("tasks", f"{what}, got {describe(above)} against {describe(beside)}")
    names = header or column or [str(k) for k in range(len(body))]
    if "" in names:
        raise InputError("tasks", f"expected a name for every task, got none for task {names.index('') + 1}")
    return TaskGraph(names=tuple(names), traffic=sp.csr_array(np.array(body)))


def read_rows(field: str, text: str) -> Rows:
    """Return the cells of every row that is not blank, under the first separator that makes rows of equal length.

    A cell that the first row alone lacks is added in front. Raises InputError of a field where no separator does.
    """
    separated = [_split(text, separator) for separator in SEPARATORS if separator in text]
    for rows in separated or [[line.split() for line in text.splitlines() if line.strip()]]:
        if rows and len(rows[-1]) == len(rows[0]) + 1 > 2:
            rows[0].insert(0, "")
        if rows and len(set(map(len, rows))) == 1:
            return rows
    first = text.strip().split("\n", 1)[0]
    what = "expected rows of equal length, cells separated by commas, semicolons, tabs or blanks"
    raise InputError(field, f"{what}, got other lengths than that of the row {describe(first)}")


def _split(text: str, separator: str) -> Rows:
    """Return the rows of a separated text, none where its quotes do not match."""
    try:
        reader = csv.reader(StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True)
        rows = [[cell.strip() for cell in row] for row in reader]
        return [row for row in rows if any(row)]
    except csv.Error:
        return []
