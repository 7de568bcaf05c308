"""Lines of numbers by blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.formats import numberlines
from tiger.formats.numberlines import read_blocks

LINES = ("1 2", "", " 30\t4 \r", "0.5 1e3", "% 1 2", "+7", "2. .5", "\x1c5\xa06")


def read(text, block):
    """Return values, lengths and line numbers of a text after its first line, read in blocks of some size."""
    kept, numberlines.BLOCK = numberlines.BLOCK, block
    try:
        found = list(read_blocks(text, len("head\n"), 2, lambda line: line.startswith("%")))
    finally:
        numberlines.BLOCK = kept
    return [[x for lines in found for x in getattr(lines, part).tolist()] for part in numberlines.NumberLines._fields]


@given(rows=st.lists(st.sampled_from(LINES), max_size=9), block=st.integers(0, 40), end=st.sampled_from(["", "\n"]))
def test_blocks_of_any_size_hold_the_same_lines(rows, block, end):
    """Values are those of Python's float; comments are no lines, blank lines are."""
    text = "\n".join(["head", *rows]) + end
    lines = [(k, line.split()) for k, line in enumerate(text.removesuffix("\n").split("\n")[1:], 2) if "%" not in line]
    values = [float(word) for _, words in lines for word in words]
    assert read(text, block) == [values, [len(words) for _, words in lines], [k for k, _ in lines]]


@pytest.mark.parametrize("block", [0, 1 << 20])
@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("x", "line 4: expected numbers, got 'x'"),
        ("1-2", "line 4: expected numbers, got '1-2'"),
        ("1.2.3", "line 4: expected numbers, got '1.2.3'"),
        ("nan", "line 4: expected numbers, got 'nan'"),
        ("1_0", "line 4: expected numbers, got '1_0'"),
        ("\u0663", "line 4: expected numbers, got '\u0663'"),
        ("-1", "line 4: expected finite numbers >= 0, got '-1'"),
        ("9" * 400, "line 4: expected finite numbers >= 0"),
    ],
)
def test_the_line_at_fault_is_named(block, word, reason):
    """Whatever stands in its block."""
    with pytest.raises(InputError, match=f"^tasks: {reason}"):
        read(f"head\n1 2\n\n3 {word} 4\n5\n", block)


def test_long_whole_numbers_are_those_of_python():
    """The nearest float64, as it is for words."""
    words = ["9007199254740993", "123456789012345678901234567890", "0001", "1" * 300]
    values, _, _ = read("head\n" + " ".join(words), 1 << 20)
    assert values == [float(word) for word in words]
