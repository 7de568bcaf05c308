"""Loads of experts from arrays and files."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.expert_maps.loads_file import read_batches, read_loads

LOADS = [[1.0, 2.5], [3.0, 0.0]]


def test_all_forms_say_the_same(tmp_path: Path) -> None:
    """Arrays of numpy, tables and lists."""
    np.save(tmp_path / "w.npy", np.array(LOADS, np.float32))
    (tmp_path / "w.csv").write_text("1, 2.5\n\n3,0\n")
    (tmp_path / "w.json").write_text(json.dumps(LOADS))
    for source in (np.array(LOADS), *(tmp_path / f"w.{ending}" for ending in ("npy", "csv", "json"))):
        assert read_loads(source).tolist() == LOADS


def test_batches_are_read_from_arrays_and_lists(tmp_path: Path) -> None:
    """The newest last; loads of one batch are the only one."""
    both = [LOADS, [[0.0, 1.0], [2.0, 3.0]]]
    np.save(tmp_path / "w.npy", np.array(both))
    (tmp_path / "w.json").write_text(json.dumps(both))
    for source in (np.array(both), tmp_path / "w.npy", tmp_path / "w.json"):
        assert read_batches(source).tolist() == read_loads(source).tolist() == both
    assert read_batches(np.array(LOADS)).tolist() == [LOADS]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("w.csv", "1,x\n", "loads: line 1: expected numbers, got 'x'"),
        ("w.csv", "1,2\n3\n", "loads: line 2: expected 2 loads as in the first, got 1"),
        ("w.csv", '1,"2\n', "loads: line 1: expected CSV"),
        ("w.csv", "1,-2\n", "loads/0/1: expected a finite number >= 0, got -2"),
        ("w.csv", "1,nan\n", "loads: line 1: expected numbers, got 'nan'"),
        ("w.json", "{}", "loads: expected a list of layers, got"),
        ("w.json", "[[1], 2]", "loads/1: expected a list as long as the first, got 2"),
        ("w.json", "[[1], [2, 3]]", "loads/1: expected a list as long as the first, got 2 items"),
        ("w.json", "[[1, true]]", "loads/0/1: expected a number, got true"),
        ("w.json", f"[[{10**400}]]", "loads: expected numbers within the range of float64"),
        ("w.json", "[[[1, 2]], [[1]]]", "loads/1: expected 2 loads a layer as in the first batch, got 1"),
        ("w.json", "[[[1]], [[1], [2]]]", "loads/1: expected as many layers as in the first batch, got 2 items"),
        ("w.json", "[[[1]], 2]", "loads/1: expected as many layers as in the first batch, got 2"),
        ("w.json", "[[[1]], [[true]]]", "loads/1/0/0: expected a number, got true"),
        ("w.json", "[[[1]], [[-1]]]", "loads/1/0/0: expected a finite number >= 0, got -1"),
        ("w.json", "[[]]", "loads: expected numbers [layers, experts], got shape (1, 0)"),
        ("w.txt", "1,2\n", "loads: expected a file ending in .npy, .csv or .json"),
        ("w.npy", "1,2\n", "loads: cannot read"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    """By the line or the place."""
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        read_loads(tmp_path / name)
    assert str(caught.value).startswith(message)


def test_other_sources_are_refused() -> None:
    """Lists, complex numbers, and words."""
    with pytest.raises(TypeError, match="expected loads as an array or a path, got list"):
        read_loads(LOADS)
    for array in (np.array([[1j]]), np.array([["a"]]), np.array([[True]])):
        with pytest.raises(InputError, match="loads: expected numbers, got an array of"):
            read_loads(array)
    with pytest.raises(InputError, match="got shape"):
        read_loads(np.ones((1, 1, 1, 1)))


@given(st.text(max_size=60), st.sampled_from([".csv", ".json"]))
@cases(quick=15, long=2_000)
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str, ending: str) -> None:
    """And nothing else happens."""
    path = tmp_path_factory.mktemp("loads") / f"w{ending}"
    path.write_text(text, encoding="utf-8")
    with suppress(InputError):
        assert read_loads(path).ndim in (2, 3)
