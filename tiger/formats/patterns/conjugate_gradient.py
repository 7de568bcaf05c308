"""The messages of a conjugate gradient on a grid of ranks."""

from collections.abc import Iterator

import numpy as np

from tiger.errors import InputError
from tiger.formats.patterns.messages import Block, Pattern


def conjugate_gradient(rows: int, columns: int) -> Pattern:
    """Exchange as an iteration of NAS CG does: partial sums inside rows, then with the rank at the transposed place.

    In row-major order each rank first adds up with those of its row whose columns differ in one bit, then sends its
    part of the vector to its transpose partner, unless that is itself; with twice as many columns as rows, pairs of
    neighbouring columns are transposed as one. All messages have volume 1, the part of the vector that a column holds;
    the sums of single numbers are left out. Raises InputError of `tasks` unless rows and columns are powers of two,
    with as many or twice as many columns, and for more ranks or messages than there may be.

    Source: subroutine setup_submatrix_info of CG in NAS Parallel Benchmarks 3.4 (MPI),
    https://www.nas.nasa.gov/software/npb.html; Bailey et al. 1991, DOI 10.1177/109434209100500306.
    """
    if rows & (rows - 1) or columns not in (rows, 2 * rows):
        expected = "expected powers of two, with as many columns as rows or twice as many"
        raise InputError("tasks", f"{expected}, got {rows} rows and {columns} columns")
    ranks, width = rows * columns, columns // rows
    levels = columns.bit_length() - 1

    def list_blocks() -> Iterator[Block]:
        index = np.arange(ranks)
        for level in range(levels):
            # The flipped bits are those of the column: there are a power of two of them.
            yield index, index ^ (1 << level), 1.0
        partner = index.reshape(rows, rows, width).transpose(1, 0, 2).ravel()
        apart = partner != index
        yield index[apart], partner[apart], 1.0

    return Pattern(ranks, ranks * (levels + 1) - columns, list_blocks)
