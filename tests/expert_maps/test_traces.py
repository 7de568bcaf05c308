"""Traces of a router, from arrays and files."""

import io
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.expert_maps.traces import check_choices, read_trace, split_trace


def test_files_have_a_token_a_row(tmp_path: Path) -> None:
    """The same of an array, of numpy's file, and of text with commas or blanks."""
    trace = np.array([[0, 3], [2, 1], [1, 1]], np.uint8)
    np.save(tmp_path / "t.npy", trace)
    (tmp_path / "t.csv").write_text("0,3\n2, 1\n\n1,1\n")
    (tmp_path / "t.txt").write_text("0 3\r\n2 1\r\n1\t1")
    for source in (trace, tmp_path / "t.npy", str(tmp_path / "t.csv"), tmp_path / "t.txt"):
        assert read_trace(source).tolist() == trace[:, :, None].tolist()


def test_files_of_numpy_are_not_read_at_once(tmp_path: Path) -> None:
    """They may be larger than memory."""
    np.save(tmp_path / "t.npy", np.zeros((4, 3, 2), np.int32))
    assert isinstance(read_trace(tmp_path / "t.npy"), np.memmap)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.full((2, 2), np.nan), "trace: expected whole numbers, got an array of 'float64'"),
        (np.array([["a", "b"]]), "trace: expected whole numbers"),
        (np.zeros(4, int), r"trace: expected \[tokens, layers\] or \[tokens, layers, k\], got 1 dim"),
        (np.zeros((4, 1), int), r"layers from 2, got the shape \(4, 1\)"),
        (np.zeros((0, 4), int), "trace: expected tokens"),
        (np.broadcast_to(np.int8(0), (2**20, 2**9)), "at most 268,435,456 choices of experts, got 536,870,912"),
    ],
)
def test_other_arrays_are_refused(array: np.ndarray, message: str) -> None:
    """By what they hold, their shape, and their size."""
    with pytest.raises(InputError, match=message):
        read_trace(array)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n0 1 2\n", "trace: line 2: expected 2 experts as in the first, got 3"),
        ("0 1\n\n0 x\n", "trace: line 3: expected numbers, got 'x'"),
        ("0 1\n0 1.5\n", "trace: line 2: expected whole numbers"),
        ("0 1\n-1 0\n", "trace: line 2: expected finite numbers >= 0, got '-1'"),
        ("0 nan\n", "trace: line 1: expected numbers, got 'nan'"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, message: str) -> None:
    """Lines without text count."""
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_trace(tmp_path / "t.csv")


def test_pickles_and_cut_files_are_refused(tmp_path: Path) -> None:
    """Nothing in a file is ever executed."""
    np.save(tmp_path / "o.npy", np.array([[{}]]), allow_pickle=True)
    whole = io.BytesIO()
    np.save(whole, np.zeros((9, 9), int))
    (tmp_path / "c.npy").write_bytes(whole.getvalue()[:-1])
    (tmp_path / "e.npy").write_bytes(b"")
    for name in ("o.npy", "c.npy", "e.npy", "missing.npy"):
        with pytest.raises(InputError, match="trace: cannot read"):
            read_trace(tmp_path / name)


def test_other_sources_are_refused() -> None:
    """Lists might be of anything."""
    with pytest.raises(TypeError, match="expected trace as an array or a path, got list"):
        read_trace([[0, 1]])


@pytest.mark.parametrize("bad", [-1, 4])
def test_an_expert_that_there_is_not_is_named(bad: int) -> None:
    """With its token and its layer."""
    trace = np.zeros((5, 3, 2), int)
    trace[4, 2, 1] = bad
    with pytest.raises(InputError, match=f"trace: expected experts 0 to 3, got {bad} for token 14 in layer 2"):
        check_choices(trace, 4, first_token=10)


def test_the_last_tokens_are_held_out() -> None:
    """At least one where any are asked for, and never all."""
    trace = np.arange(20).reshape(10, 2, 1)
    assert [len(part) for part in split_trace(trace, 0.0)] == [10, 0]
    assert split_trace(trace, 0.25).held_out.tolist() == trace[7:].tolist()
    with pytest.raises(InputError, match="held_out: expected to leave some of the 10 tokens"):
        split_trace(trace, 0.95)


@given(st.binary(max_size=200), st.integers(0, 150), st.sampled_from([".npy", ".csv", ".txt"]))
@cases(quick=25, long=2_000)
def test_files_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int, end: str) -> None:
    """Whatever bytes stand in place of some of a good file."""
    whole = io.BytesIO()
    np.save(whole, np.zeros((3, 2), np.int16))
    path = tmp_path_factory.getbasetemp() / f"noise{end}"
    path.write_bytes(noise if end != ".npy" else whole.getvalue()[:at] + noise + whole.getvalue()[at + len(noise) :])
    with suppress(InputError):
        assert read_trace(path).ndim == 3
