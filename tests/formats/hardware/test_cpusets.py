"""Sets of hardware threads as hwloc writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.errors import InputError
from tiger.formats.hardware.cpusets import THREAD_LIMIT, read_set
from tiger.formats.xmltext import Element


def read(text):
    """Return the set of a text."""
    return read_set(Element("object", {"cpuset": text}, 7, -1), "cpuset")


def test_words_follow_the_highest_first():
    """An empty one between commas is zero, as hwloc leaves zeros out there."""
    assert read("0x0000000f") == 15
    assert read("0x0") == 0
    assert read("0x00000001,,0x80000000") == (1 << 64) + (1 << 31)


def test_a_set_may_have_no_end():
    """All threads but the first, and all."""
    assert read("0xf...f,0xfffffffe") == (1 << THREAD_LIMIT) - 2
    assert read("0xf...f") == (1 << THREAD_LIMIT) - 1


@pytest.mark.parametrize("text", ["", "0x", "3-5", "0x123456789", "0x1 ,0x1", "," * 40_000, "0xf...f0x1"])
def test_other_text_is_refused(text):
    """With the line."""
    with pytest.raises(InputError, match=r"^topology: line 7: cpuset: expected a set such as 0x000000ff, got"):
        read(text)


@cases(quick=40, long=1_000)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=6))
def test_what_is_written_is_read(words):
    """Whatever the words."""
    value = sum(word << 32 * at for at, word in enumerate(reversed(words)))
    assert (
        read(
            ",".join(f"0x{word:08x}" if word else "" for word in words[:-1])
            + "," * (len(words) > 1)
            + f"0x{words[-1]:x}"
        )
        == value
    )
