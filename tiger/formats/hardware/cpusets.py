"""Sets of hardware threads as hwloc writes them: `0x000000ff`, or words of 32 bits between commas, the highest first.

Source: hwloc, `hwloc_bitmap_snprintf` of hwloc/bitmap.c, https://github.com/open-mpi/hwloc.
"""

import re

from tiger.formats.xmltext import Element
from tiger.model.wording import describe

FIELD = "topology"
# What precedes a set that has all threads from some number on.
ENDLESS = "0xf...f"
# Of each word between commas, as hwloc writes eight hexadecimal digits of it.
WORD_BITS = 32
# Threads of a set: more than a machine has, and few enough that damaged text costs nothing.
THREAD_LIMIT = 1 << 20
_WORD = re.compile(r"(?:0x)?[0-9a-fA-F]{1,8}|")


def read_set(element: Element, key: str) -> int:
    """Return a set of an element as bits, thread 0 in the lowest; one without an end goes up to THREAD_LIMIT.

    A word of zeros may be empty. Raises InputError of `topology` with the line for other text.
    """
    text = element.values.get(key, "")
    words = text.split(",")
    endless = words[0] == ENDLESS
    words = words[endless:]
    count = len(words) * WORD_BITS
    if not text or count > THREAD_LIMIT or not all(map(_WORD.fullmatch, words)):
        raise element.error(FIELD, f"{key}: expected a set such as 0x000000ff, got {describe(text)}")
    bits = 0
    for word in words:
        bits = bits << WORD_BITS | int(word or "0", 16)
    return bits | ((1 << THREAD_LIMIT) - (1 << count) if endless else 0)
