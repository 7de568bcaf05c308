"""Lists of nodes as text: names one after another, or host lists with brackets as Slurm writes them."""

import re
from contextlib import suppress
from itertools import product
from pathlib import Path

from tiger.errors import InputError
from tiger.model.text import read_text
from tiger.model.topology import Topology
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "allocation"
_COMMENT = re.compile(r"#[^\n]*")
_PIECE = re.compile(r"(?:[^,\[]|\[[^\]]*\]?)+")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
# What no name holds beside its brackets.
_OUTSIDE = re.compile(r"[\s\[\]]")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def list_nodes(source: str | Path, topology: Topology) -> list[str]:
    """Return the names of the nodes that a text lists, or, where it lists none of the topology, a file of that name.

    Names are separated by blanks, semicolons or line ends, in a file also by comments from `#` on; since names may hold
    commas themselves, a comma separates them only where the whole is no name. `n[0-3,07]` stands for n0 to n3 and n07.
    Raises InputError of `allocation` for text that names something else, and for a file that cannot be read.
    """
    if isinstance(source, Path):
        return resolve_names(FIELD, _COMMENT.sub("", read_text(source, FIELD)), topology)
    try:
        return resolve_names(FIELD, source, topology)
    except InputError as error:
        if _is_file(source):
            return list_nodes(Path(source), topology)
        if len(source.split()) == 1:
            raise InputError(error.field, f"{error.reason}; there is no file of that name either") from None
        raise


def _is_file(text: str) -> bool:
    """Return whether there is a file of a name, which may be no name that the system takes."""
    with suppress(OSError, ValueError):
        return Path(text).is_file()
    return False


def resolve_names(field: str, text: str, topology: Topology) -> list[str]:
    """Return the names of nodes in a text; raise InputError of a field, with the position, for anything else."""
    known, names = set(topology.names), list[str]()
    for word in filter(None, re.split(r"[\s;]+", text)):
        meant = _resolve(field, word, known)
        unknown = [name for name in meant if name not in known]
        if unknown:
            # Where nothing in it is a name, it is unclear whether its commas were meant to separate.
            got = describe(word) if len(unknown) == len(meant) else f"{describe(unknown[0])} in {describe(word)}"
            what = "expected nodes of the topology, separated by blanks, semicolons or lines"
            raise InputError(f"{field}/{len(names) + meant.index(unknown[0])}", f"{what}, got {got}")
        names += meant
    return names


def _resolve(field: str, word: str, known: set[str]) -> list[str]:
    """Return the parts of a word: one name, one pattern, or those between its commas outside brackets."""
    if word in known:
        return [word]
    with suppress(InputError):
        whole = _expand_known(field, word, known)
        if known.issuperset(whole):
            return whole
    pieces = split_list(word)
    return [name for piece in pieces for name in ([piece] if piece in known else _expand_known(field, piece, known))]


def _expand_known(field: str, piece: str, known: set[str]) -> list[str]:
    """Return the names that text with brackets stands for, at most as many as there are nodes."""
    return expand(field, piece, len(known), f"the {len(known)} nodes of the topology")


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
