"""Task graphs: defaults, canonical traffic, checks."""

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.tasks import TaskGraph


def graph(entries, **fields):
    """Return a task graph a, b with this traffic."""
    return TaskGraph(names=("a", "b"), traffic=sp.csr_array(np.array(entries, float)), **fields)


def test_defaults():
    """Every task is one unit of work, memory plays no part, edges are directed."""
    tasks = graph([[0, 1], [0, 0]])
    assert tasks.work.tolist() == [1.0, 1.0]
    assert tasks.memory is None
    assert tasks.directed
    assert tasks.size == 2


def test_traffic_is_canonical():
    """Parallel edges add up, stored zeros go, indices are sorted, and integers become floats."""
    entries = ([1, 2, 4, 0], ([0, 0, 0, 1], [1, 1, 0, 0]))
    tasks = TaskGraph(names=("a", "b"), traffic=sp.coo_array(entries, shape=(2, 2)))
    assert tasks.traffic.toarray().tolist() == [[4.0, 3.0], [0.0, 0.0]]
    assert tasks.traffic.indices.tolist() == [0, 1]
    assert tasks.traffic.dtype == np.float64
    assert tasks.traffic.has_canonical_format


def test_traffic_in_raw_form_is_added_up():
    """A CSR matrix may hold one entry in parts."""
    raw = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    assert TaskGraph(names=("a", "b"), traffic=raw).traffic.data.tolist() == [3.0]


def test_arrays_are_safe_from_their_caller():
    """Traffic, work and memory are read-only copies."""
    traffic, work = sp.csr_array(np.ones((2, 2))), np.ones(2)
    tasks = TaskGraph(names=("a", "b"), traffic=traffic, work=work, memory=np.array([1, 2]))
    traffic.data[:], work[:] = 7.0, 7.0
    assert tasks.traffic.sum() == 4.0
    assert tasks.work.sum() == 2.0
    parts = (tasks.traffic.data, tasks.traffic.indices, tasks.traffic.indptr, tasks.work, tasks.memory)
    assert not any(array.flags.writeable for array in parts)


def test_read_only_traffic_serves_scipy():
    """Transposing, slicing, multiplying and adding need no writable arrays."""
    traffic = graph([[0, 1], [2, 0]]).traffic
    both = sp.csr_array(traffic + traffic.T)
    assert both.toarray().tolist() == [[0.0, 3.0], [3.0, 0.0]]
    assert (traffic @ np.array([1.0, 1.0])).tolist() == [1.0, 2.0]
    assert traffic[[1]][:, [0]].toarray().tolist() == [[2.0]]


@pytest.mark.parametrize("volume", [-1.0, np.nan, np.inf])
def test_refuses_bad_volumes(volume):
    """Volumes are finite and >= 0."""
    with pytest.raises(InputError, match="expected finite volumes >= 0") as caught:
        graph([[0, volume], [0, 0]])
    assert caught.value.field == "tasks/traffic"


def test_refuses_a_total_beyond_float64():
    """The sum of all volumes is finite, and telling so raises no warning."""
    with pytest.raises(InputError, match="expected a finite total volume"):
        graph([[0, 1e308], [1e308, 0]])


def test_refuses_traffic_of_another_size():
    """Traffic has a row and a column for each task."""
    with pytest.raises(InputError, match="expected a 2 x 2 matrix, got 3 x 3"):
        graph(np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("field", "values"), [("work", [1.0]), ("work", [1.0, -1.0]), ("memory", [1.0, 0.5]), ("memory", [1, 2, 3])]
)
def test_refuses_bad_vectors(field, values):
    """The error names the vector."""
    with pytest.raises(InputError, match="expected") as caught:
        graph([[0, 1], [0, 0]], **{field: np.array(values)})
    assert caught.value.field == f"tasks/{field}"


@pytest.mark.parametrize("names", [(), ("a", "a")])
def test_refuses_names(names):
    """There is at least one task, and no two are called the same."""
    with pytest.raises(InputError, match="expected") as caught:
        TaskGraph(names=names, traffic=sp.csr_array((2, 2)))
    assert caught.value.field == "tasks"
