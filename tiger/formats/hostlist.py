"""Host lists with brackets as Slurm writes them, such as n[0-3,7],m0."""

import re
from itertools import product

from tiger.errors import InputError
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

_PIECE = re.compile(r"(?:[^,\[]|\[[^\]]*\]?)+")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
# What no name holds beside its brackets.
_OUTSIDE = re.compile(r"[\s\[\]]")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def read_list(field: str, where: str, text: str, most: int) -> list[str]:
    """Return the names of a host list such as n[0-3,7],m0, up to a limit, which no hardware has to know.

    Raises InputError of a field that says where the list stands.
    """
    names = list[str]()
    for piece in split_list(text):
        if _OUTSIDE.search(_BRACKETS.sub("", piece)):
            what = "expected names and brackets such as n[0-3,7]"
            raise InputError(field, f"{where}: {what}, got {describe(piece)}")
        try:
            names += expand(field, piece, most - len(names), f"{NODE_LIMIT:,} names in all lists")
        except InputError as error:
            raise InputError(field, f"{where}: {error.reason}") from None
    if not names:
        raise InputError(field, f"{where}: expected names, got {describe(text)}")
    return names


def split_list(text: str) -> list[str]:
    """Return the pieces between the commas outside brackets, without the empty ones."""
    return _PIECE.findall(text)


def expand(field: str, piece: str, most: int, bound: str) -> list[str]:
    """Return the names that text with brackets stands for, up to a limit.

    Raises InputError of a field for malformed brackets, and in words for the bound before more names are made.
    """
    parts = _BRACKETS.split(piece)
    choices = [_numbers(field, part, piece) if k % 2 else [range(1)] for k, part in enumerate(parts)]
    count = 1
    for ranges in choices:
        # Many brackets make a number of thousands of digits, which takes long to multiply and cannot be printed.
        count *= sum(map(len, ranges))
        if count > most:
            raise InputError(field, f"expected at most {bound}, got {count} or more in {describe(piece)}")
    texts = [_write_numbers(part, choices[k]) if k % 2 else [part] for k, part in enumerate(parts)]
    return list(map("".join, product(*texts)))


def _numbers(field: str, text: str, piece: str) -> list[range]:
    """Return the ranges between two brackets, without their leading zeros."""
    matches = [_RANGE.fullmatch(part) for part in text.split(",")]
    ranges = [range(int(match[1]), int(match[2] or match[1]) + 1) for match in matches if match]
    if None in matches or not all(ranges):
        raise InputError(field, f"expected brackets such as [0-3,7], got {describe(piece)}")
    return ranges


def _write_numbers(text: str, ranges: list[range]) -> list[str]:
    """Return the numbers of ranges as text, all of one range as wide as its first number is written."""
    widths = [len(part.partition("-")[0]) for part in text.split(",")]
    return [str(number).zfill(width) for width, numbers in zip(widths, ranges, strict=True) for number in numbers]
