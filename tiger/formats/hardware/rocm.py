"""The tables that `rocm-smi --showtopo` prints: the weight and the kind of the link between each two GPUs of AMD.

Below a title each has a row of every GPU with an entry for every GPU. A weight is a distance of the driver: 15 for each
hop over Infinity Fabric (XGMI), 40 and more over PCIe, by what lies between (drivers/gpu/drm/amd/amdkfd of Linux).
Source: ROCm, python_smi_tools/rocm_smi.py, https://github.com/ROCm/rocm_smi_lib.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.pairs import PairHardware
from tiger.model.text import RawLine
from tiger.model.wording import describe

FIELD = "topology"
WEIGHT, LINK_TYPE = "Weight", "Link Type"
# What GPUs are linked by, the nearer first.
KINDS = ("XGMI", "PCIE")
# More than any machine has.
GPU_LIMIT = 1024
_TITLE = re.compile(r"=+ *(Weight|Hops|Link Type) between two GPUs *=+")
_OTHER_TITLE = re.compile(r"={3,}.*")
_GPU = re.compile(r"GPU[0-9]+")
_WEIGHT = re.compile(r"[1-9][0-9]{0,8}")


class _Table(NamedTuple):
    """Hold a table: its title, the names of its GPUs, and the entries of each two."""

    title: str
    names: tuple[str, ...]
    entries: Sequence[Sequence[str]]

    def error(self, a: int, b: int, expected: str) -> InputError:
        """Return the error of an entry."""
        where = f"{self.title}, row {self.names[a]}, column {self.names[b]}"
        return InputError(FIELD, f"{where}: expected {expected}, got {describe(self.entries[a][b])}")


def is_matrix(text: str) -> bool:
    """Return whether a line of a text is the title of such a table."""
    return any(_TITLE.fullmatch(line.strip()) for line in text.splitlines())


def read_machine(text: str) -> PairHardware:
    """Return the GPUs of the tables as `gpu0`, `gpu1`, .., as far apart as the weights of their links.

    The nearest two are 1 apart. Hops play no part, as weights count them. Raises InputError of `topology` that names
    table, row and column for ragged rows, unknown entries and entries that contradict each other.
    """
    weights, types = _read_table(text, WEIGHT), _read_table(text, LINK_TYPE)
    if types.names != weights.names:
        raise InputError(FIELD, f"{LINK_TYPE}: expected the GPUs of the table of weights, got {', '.join(types.names)}")
    size = len(types.names)
    weight, kind = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
    for a in range(size):
        for b in range(size):
            weight[a, b], kind[a, b] = _read_weight(weights, a, b), _read_kind(types, a, b)
    # Kinds without a link have no distance.
    apart = ~np.eye(size, dtype=bool)
    found = np.unique(kind[apart]) if size > 1 else np.zeros(1, np.int64)
    least = np.array([weight[apart & (kind == each)].min(initial=1 << 30) for each in found])
    place = np.searchsorted(found, np.where(apart, kind, found[0]))
    distances = least / least.min()
    return PairHardware(
        names=tuple(name.lower() for name in types.names),
        distances={KINDS[each]: float(distance) for each, distance in zip(found, distances, strict=True)},
        kind=place,
        share=np.where(apart, weight / least[place], 1.0),
    )


def _read_table(text: str, title: str) -> _Table:
    """Return the table of a title, with a row for each of its columns."""
    lines = list(_find_lines(text, title))
    if not lines:
        raise InputError(FIELD, f"expected the table {title!r} of `rocm-smi --showtopo`, got none")
    columns = lines[0][1].split()
    if not all(map(_GPU.fullmatch, columns)) or len(set(columns)) < len(columns) or len(columns) > GPU_LIMIT:
        what = f"expected 1 to {GPU_LIMIT:,} different GPUs above the entries"
        raise InputError(FIELD, f"line {lines[0][0]}: {what}, got {describe(lines[0][1])}")
    rows = dict[str, list[str]]()
    for number, line in lines[1:]:
        name, *words = line.split()
        if name not in columns or name in rows or len(words) != len(columns):
            what = f"expected one row of {len(columns)} entries for every GPU"
            raise InputError(FIELD, f"line {number}: {title}: {what}, got {describe(line)}")
        rows[name] = words
    missing = next((name for name in columns if name not in rows), None)
    if missing is not None:
        raise InputError(FIELD, f"{title}, row {missing}: expected a row for every GPU, got none")
    return _Table(title, tuple(columns), [rows[name] for name in columns])


def _find_lines(text: str, title: str) -> Iterator[RawLine]:
    """Return number and content of the lines of GPUs below a title, up to the next one."""
    inside = False
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if found := _TITLE.fullmatch(line):
            inside = found[1] == title
        elif _OTHER_TITLE.fullmatch(line):
            inside = False
        elif inside and _GPU.match(line):
            yield number, line


def _read_weight(table: _Table, a: int, b: int) -> int:
    """Return a weight, 0 of a GPU to itself."""
    word = _read_entry(table, a, b)
    if a != b and not _WEIGHT.fullmatch(word):
        raise table.error(a, b, "a whole number from 1 on")
    return int(word)


def _read_kind(table: _Table, a: int, b: int) -> int:
    """Return the number of a kind of links, 0 of a GPU to itself."""
    word = _read_entry(table, a, b)
    if a != b and word not in KINDS:
        raise table.error(a, b, " or ".join(KINDS))
    return KINDS.index(word) if a != b else 0


def _read_entry(table: _Table, a: int, b: int) -> str:
    """Return an entry, which must be the same from both sides, and 0 of a GPU to itself."""
    word, back = table.entries[a][b], table.entries[b][a]
    if a == b and word != "0":
        raise table.error(a, b, "0")
    if word != back:
        raise table.error(a, b, f"{describe(back)} as in row {table.names[b]}")
    return word
