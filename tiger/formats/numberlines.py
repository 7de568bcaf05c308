"""Lines of numbers of large files, read in blocks of many lines, so that no object is made for a line or a word."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.text import read_amount_lines, read_amounts

# Characters a block: enough for the arrays of a block to cost little, few enough for them to be small beside the text.
BLOCK = 1 << 20
_WHOLE, _DECIMAL = b"0123456789 \t\r\n", b"0123456789+-.eE \t\r\n"


class NumberLines(NamedTuple):
    """Hold the numbers of lines in one array, how many each line has, and where each stands in the file."""

    values: FloatArray
    lengths: IntArray
    numbers: IntArray

    def keep(self, lines: BoolArray | slice) -> "NumberLines":
        """Return some of the lines; those left out must have no numbers."""
        return NumberLines(self.values, self.lengths[lines], self.numbers[lines])

    def fault(self, line: int, reason: str) -> InputError:
        """Return the error of a line, by its position among these."""
        return InputError("tasks", f"line {self.numbers[line]}: {reason}")


def read_blocks(text: str, start: int, number: int, is_comment: Callable[[str], bool]) -> Iterator[NumberLines]:
    """Yield the lines from character `start` on, where the line of a number begins, block by block; comments are none.

    Numbers are finite and >= 0, a line may be blank. Raises InputError of `tasks` that names the line at fault.
    """
    while start < len(text):
        end = text.find("\n", start + BLOCK) + 1 or len(text)
        block = text[start:end]
        block = block if block[-1] == "\n" else block + "\n"
        yield _read_plain(block, number) or _read_any(block, number, is_comment)
        number += block.count("\n")
        start = end


def _read_plain(block: str, number: int) -> NumberLines | None:
    """Return the lines of a block that has characters of numbers alone; None for another, or for one with a fault."""
    if not block.isascii():
        return None
    content = block.encode()
    if content.translate(None, _DECIMAL):
        return None
    if content.translate(None, _WHOLE):
        try:
            values = read_amounts("tasks", "lines", block.split())
        except ValueError:
            return None
    else:
        # Runs of digits between blanks are all that is left, which no reader of numbers splits otherwise.
        values = np.fromstring(content, np.float64, sep=" ") if content.strip() else np.empty(0)
        if not np.isfinite(values).all():
            return None
    letters = np.frombuffer(content, np.uint8)
    inside = letters > ord(" ")
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    ends = np.flatnonzero(letters == ord("\n"))
    lengths = np.diff(np.searchsorted(np.flatnonzero(begins), ends), prepend=0)
    return NumberLines(values, lengths, number + np.arange(len(ends)))


def _read_any(block: str, number: int, is_comment: Callable[[str], bool]) -> NumberLines:
    """Return the lines of any block without comments; raise InputError of `tasks` that names the line at fault."""
    lines = [(k, line) for k, line in enumerate(block[:-1].split("\n"), number) if not is_comment(line)]
    return NumberLines(
        values=read_amount_lines("tasks", lines),
        lengths=np.array([len(line.split()) for _, line in lines], np.int64),
        numbers=np.array([k for k, _ in lines], np.int64),
    )
