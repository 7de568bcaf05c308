"""QAPLIB instances."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats.qaplib import read_problem
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of

DATA = Path(__file__).resolve().parents[2] / "../shared/data/qaplib"


def test_the_first_matrix_is_distance_the_second_traffic():
    """Both are taken as given, diagonal included."""
    tasks, topology = read_problem(" 2\n\n1 2\n3 4\n\n5 6\n7 8 ")
    assert (tasks.names, topology.names, tasks.directed) == (("0", "1"), ("0", "1"), True)
    assert topology.metric.table.tolist() == [[1, 2], [3, 4]]
    assert tasks.traffic.toarray().tolist() == [[5, 6], [7, 8]]


@given(size=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_the_cost_is_the_objective_of_the_library(size, seed):
    """sum_ij flow_ij distance_p(i)p(j) over all ordered pairs."""
    rng = np.random.default_rng(seed)
    distance, flow = rng.integers(0, 9, (2, size, size))
    words = [size, *distance.ravel(), *flow.ravel()]
    tasks, topology = read_problem(" ".join(map(str, words)))
    places = rng.permutation(size)
    cost = cost_of(Problem(tasks=tasks, topology=topology, rule="one-to-one"), places)
    assert cost.total == (flow * distance[np.ix_(places, places)]).sum()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a size from 1 to 8,192 as the first number, got 0"),
        ("0", "expected a size from 1 to 8,192 as the first number, got 0"),
        ("8193", "expected a size from 1 to 8,192 as the first number, got 8193"),
        ("n 1 1", "the first number: expected numbers, got 'n'"),
        ("1.5 1 1", "the first number: expected whole numbers"),
        ("1 1", "expected 2 x 1 x 1 numbers after the size, got 1"),
        ("1 1 1 1", "expected 2 x 1 x 1 numbers after the size, got 3"),
        ("1 1 x", "matrices: expected numbers, got 'x'"),
        ("1 -1 1", "matrices: expected finite numbers >= 0, got '-1'"),
        ("1 1 1e999", "matrices: expected finite numbers >= 0"),
        ("1 inf 1", "matrices: expected numbers, got 'inf'"),
    ],
)
def test_malformed_instances_are_refused(text, reason):
    """Every fault is reported for the tasks."""
    with pytest.raises(InputError) as caught:
        read_problem(text)
    assert (caught.value.field, reason in caught.value.reason) == ("tasks", True)


@pytest.mark.skipif(not DATA.exists(), reason="the library's files are not here")
@pytest.mark.parametrize("name", ["nug12", "bur26a", "ste36a", "tai20a"])
def test_files_of_the_library_are_read(name):
    """Line breaks stand anywhere in these files."""
    tasks, topology = read_problem((DATA / f"{name}.dat").read_text())
    assert tasks.size == topology.size == int("".join(filter(str.isdigit, name)))
