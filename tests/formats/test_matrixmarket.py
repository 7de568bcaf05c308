"""Matrix Market files."""

from io import BytesIO

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import mmwrite

from tiger.errors import InputError
from tiger.formats.matrixmarket import read_task_graph

GENERAL = "%%MatrixMarket matrix coordinate real general\n"
SYMMETRIC = "%%MatrixMarket matrix coordinate integer symmetric\n"
PATTERN = "%%MatrixMarket matrix coordinate pattern symmetric\n"
ARRAY = "%%MatrixMarket matrix array real general\n"
HALF = "%%MatrixMarket matrix array real symmetric\n"


@pytest.mark.parametrize(
    ("text", "traffic", "directed"),
    [
        (GENERAL + "2 2 3\n1 2 1.5\n2 1 2\n2 2 1e1\n", [[0, 1.5], [2, 10]], True),
        (GENERAL + "% a\n\n2 2 2\n% b\n1 2 1\n1 2 2\n\n", [[0, 3], [0, 0]], True),
        (GENERAL.upper() + "1 1 0", [[0]], True),
        (SYMMETRIC + "2 2 2\n2 1 3\n2 2 4\n", [[0, 3], [0, 4]], False),
        (SYMMETRIC + "2 2 1\n1 2 3\n", [[0, 3], [0, 0]], False),
        (PATTERN + "3 3 2\n2 1\n3 2\n", [[0, 1, 0], [0, 0, 1], [0, 0, 0]], False),
        (ARRAY + "2 2\n1\n2\n3\n4\n", [[1, 3], [2, 4]], True),
        (HALF + "2 2\n1\n2\n4\n", [[1, 2], [0, 4]], False),
    ],
)
def test_layouts_are_read(text, traffic, directed):
    """General entries stay as given; a symmetric pair counts once, the diagonal is kept, a pattern is 1."""
    tasks = read_task_graph(text)
    assert (tasks.traffic.toarray().tolist(), tasks.directed) == (traffic, directed)
    assert tasks.names == tuple(str(k + 1) for k in range(len(traffic)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 2 3\n", "line 1: expected '%%MatrixMarket matrix"),
        ("%%MatrixMarket vector coordinate real general\n2 1\n", "line 1: expected '%%MatrixMarket matrix"),
        ("%%MatrixMarket matrix coordinate complex general\n", "line 1: expected one of real, .* got 'complex'"),
        ("%%MatrixMarket matrix coordinate real hermitian\n", "line 1: expected one of general, symmetric"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n", "line 1: expected one of general, symmetric"),
        ("%%MatrixMarket matrix sparse real general\n", "line 1: expected one of coordinate, array"),
        ("%%MatrixMarket matrix array pattern general\n", "line 1: expected a pattern in coordinate layout"),
        (GENERAL + "% nothing\n", "expected a size line"),
        (GENERAL + "2 2\n", "line 2: expected 3 numbers as the size, got 2"),
        (ARRAY + "2 2 4\n", "line 2: expected 2 numbers as the size, got 3"),
        (GENERAL + "2 3 0\n", "line 2: expected a square matrix .* got 2 x 3"),
        (GENERAL + "0 0 0\n", "line 2: expected a square matrix"),
        (GENERAL + "-1 -1 0\n", "line 2: expected finite numbers >= 0"),
        (GENERAL + "1000000000 1000000000 1\n1 1 1\n", "line 2: expected a square matrix of 1 to 1,048,576"),
        (GENERAL + "2 2 99999999999999999999\n1 1 1\n", "line 2: expected whole numbers"),
        (GENERAL + "2 2 2\n1 2 1\n", "expected 2 entries, got 1 lines"),
        (GENERAL + "2 2 1\n1 2 1\n2 1 1\n", "expected 1 entries, got 2 lines"),
        (GENERAL + "2 2 1\n1 2\n", "line 3: expected 3 numbers, got 2"),
        (GENERAL + "2 2 1\n1 2 1 7\n", "line 3: expected 3 numbers, got 4"),
        (GENERAL + "2 2 1\n3 1 1\n", "line 3: expected row and column from 1 to 2"),
        (GENERAL + "2 2 1\n0 1 1\n", "line 3: expected row and column from 1 to 2"),
        (GENERAL + "2 2 1\n1.5 1 1\n", "line 3: expected row and column from 1 to 2"),
        (GENERAL + "2 2 1\n1 2 0x10\n", "line 3: expected numbers, got '0x10'"),
        (GENERAL + "2 2 1\n1 2 nan\n", "line 3: expected numbers, got 'nan'"),
        (GENERAL + "2 2 1\n1 2 1e999\n", "line 3: expected finite numbers"),
        (GENERAL + "2 2 1\n1 2 -1\n", "line 3: expected finite numbers >= 0"),
        (SYMMETRIC + "2 2 2\n1 2 1\n2 1 1\n", "expected symmetric entries on one side"),
        (ARRAY + "2 2\n1\n2\n3\n", "expected 4 lines of one number, got 3"),
        (ARRAY + "100000 100000\n1\n", "expected 10000000000 lines of one number, got 1"),
    ],
)
def test_malformed_files_are_refused(text, reason):
    """Every fault is reported for the tasks, and nothing is allocated for what the head only claims."""
    with pytest.raises(InputError, match=f"^tasks: .*{reason}"):
        read_task_graph(text)


@given(
    size=st.integers(1, 8),
    seed=st.integers(0, 2**32 - 1),
    symmetry=st.sampled_from(["general", "symmetric"]),
    dense=st.booleans(),
    field=st.sampled_from(["integer", "real"]),
)
def test_files_of_scipy_round_trip(size, seed, symmetry, dense, field):
    """What scipy writes is read."""
    matrix = np.random.default_rng(seed).integers(0, 4, (size, size))
    matrix = matrix + matrix.T if symmetry == "symmetric" else matrix
    stream = BytesIO()
    mmwrite(stream, matrix if dense else sp.coo_array(matrix), field=field, symmetry=symmetry)
    tasks = read_task_graph(stream.getvalue().decode())
    assert np.array_equal(tasks.traffic.toarray(), matrix if symmetry == "general" else np.triu(matrix))
