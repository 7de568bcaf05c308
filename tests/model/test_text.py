"""Opening text files and reading the numbers in them."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.model.text import (
    FileText,
    find_file,
    is_number,
    read_amount_lines,
    read_amounts,
    read_file,
    read_text,
    read_wholes,
    text_of,
)

NO_NUMBERS = [
    "nan",
    "inf",
    "-inf",
    "0x10",
    "1_000",
    "\u0663",
    "",
    ".",
    "e5",
    "1e",
    "--1",
    "1,5",
    "true",
    "1e5.0",
    "1 2",
]


def test_bug_pipes_and_devices_were_waited_for(tmp_path):
    """A pipe that nobody writes to and a device that never ends are refused at once, also behind a link."""
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zero.csv"):
        with pytest.raises(InputError, match=r"expected a regular file, got a pipe, a device or a socket"):
            read_text(tmp_path / name, "tasks")


def test_a_file_has_a_largest_size(tmp_path):
    """One byte more is refused."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"12345")
    assert read_file(path, "tasks", 5) == b"12345"
    with pytest.raises(InputError, match=r"^tasks: expected at most 4 bytes, got more in .*a\.csv"):
        read_file(path, "tasks", 4)


def test_text_is_read_with_or_without_byte_order_mark(tmp_path):
    """A mark at the start is not part of the text."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf1")
    assert read_text(path, "tasks") == "1"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "an empty file"), (b" \n\t", "an empty file"), (b"caf\xe9", "UTF-8 text, got another byte at 3")],
)
def test_files_without_text_are_refused(tmp_path, content, reason):
    """Empty files and other encodings are bad input."""
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^tasks: cannot read .*a\.csv': expected .*{reason}"):
        read_text(path, "tasks")


@pytest.mark.parametrize("name", ["missing", ".", "a" * 5000, "nul\0"])
def test_files_that_cannot_be_opened_are_refused(tmp_path, name):
    """A missing file, a folder, a name too long and one with a zero byte are bad input."""
    with pytest.raises(InputError, match=r"^topology: cannot read '"):
        read_text(tmp_path / name, "topology")


@pytest.mark.parametrize("word", ["1", "+1", "-1.5", ".5", "5.", "1e-3", "1E+05", "0001"])
def test_decimal_numbers_are_numbers(word):
    """Signs, points and exponents are understood."""
    assert is_number(word)


@pytest.mark.slow
@pytest.mark.parametrize("word", NO_NUMBERS)
def test_other_words_are_no_numbers(word):
    """What only some readers take for a number is refused, and named."""
    assert not is_number(word)
    with pytest.raises(InputError, match=r"^tasks: line 3: expected numbers, got "):
        read_amounts("tasks", "line 3", ["1", word])


@pytest.mark.parametrize("word", ["-1", "-0.5", "1e999", "9" * 400])
def test_amounts_are_finite_and_not_negative(word):
    """Numbers below 0 or beyond float64 are refused."""
    with pytest.raises(InputError, match=r"^tasks: line 3: expected finite numbers >= 0, got "):
        read_amounts("tasks", "line 3", ["1", word])


@pytest.mark.parametrize("word", ["0.5", "9007199254740992", "9" * 30])
def test_wholes_are_exact(word):
    """A fraction or a number that float64 cannot hold exactly is refused."""
    with pytest.raises(InputError, match=r"^tasks: line 3: expected whole numbers below"):
        read_wholes("tasks", "line 3", [word])


@given(values=st.lists(st.floats(0, 1e300)))
def test_numbers_round_trip(values):
    """What Python prints is what is read."""
    assert read_amounts("tasks", "line 1", list(map(repr, values))).tolist() == values


def test_lines_are_read_into_one_array():
    """The numbers of all lines follow each other; an error names its line."""
    assert np.array_equal(read_amount_lines("tasks", [(4, "1 2"), (5, ""), (7, " 3")]), [1, 2, 3])
    with pytest.raises(InputError, match=r"^tasks: line 7: expected numbers, got 'x'"):
        read_amount_lines("tasks", [(4, "1 2"), (7, "x")])


def test_a_document_may_be_a_file():
    """One of two texts, and one without a text is of another form."""
    assert find_file("tasks", {"file": "a.csv", "text": "0"}) == FileText("a.csv", "0")
    assert [find_file("tasks", other) for other in ({"file": "a.csv"}, {}, [], "a.csv", None)] == [None] * 5
    for odd in (
        {"text": "0"},
        {"file": 1, "text": "0"},
        {"file": "a", "text": None},
        {"file": "a", "text": "", "x": 1},
    ):
        with pytest.raises(InputError, match="tasks: expected an object of two texts, file and text, got another"):
            find_file("tasks", odd)


def test_a_text_at_hand_is_that_of_its_file(tmp_path):
    """Nothing is opened by its name, and blank text is none."""
    path = tmp_path / "a.csv"
    path.write_text("1")
    assert (text_of(path, "tasks"), text_of(FileText(str(path), "2"), "tasks")) == ("1", "2")
    with pytest.raises(InputError, match="tasks: expected text, got none in"):
        text_of(FileText(str(path), " \n"), "tasks")
