"""The nodes of a topology that are a job's: names, host lists with brackets, host files, and the variables of Slurm."""

import os
import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tiger.errors import InputError
from tiger.formats.hostfile import (
    CPUS_PER_TASK,
    NODE_LIST,
    TASKS_PER_NODE,
    HostSlots,
    NodeSlots,
    read_host_file,
    split_count,
)
from tiger.formats.hostlist import expand, split_list
from tiger.model.text import FileText, read_text
from tiger.model.wording import describe

FIELD = "allocation"
# The word that stands for the variables of the job of Slurm that runs this.
SLURM = "slurm"
_COMMENT = re.compile(r"#[^\n]*")


def list_nodes(source: str | Path | FileText, known: Collection[str]) -> HostSlots:
    """Return the nodes that a text lists out of those known, or, where it lists none of them, a file of that name.

    Names are separated by blanks, semicolons or line ends, in a file also by comments from `#` on; since names may hold
    commas themselves, a comma separates them only where the whole is no name. `n[0-3,07]` stands for n0 to n3 and n07.
    Slots are those of `hostfile.read_host_file`. `slurm`, where no node is called so, stands for the variables of a job
    of Slurm. Raises InputError of `allocation` for text that names something else, and for a file that cannot be read.
    """
    names = frozenset(known)
    if not isinstance(source, str):
        text = source.text if isinstance(source, FileText) else read_text(source, FIELD)
        return _read(FIELD, _COMMENT.sub("", text), names)
    if source.strip() == SLURM and SLURM not in names:
        return _read(FIELD, _read_variables(), names)
    try:
        return _read(FIELD, source, names)
    except InputError as error:
        if _is_file(source):
            return list_nodes(Path(source), names)
        if len(source.split()) == 1:
            raise InputError(error.field, f"{error.reason}; there is no file of that name either") from None
        raise


def resolve_names(field: str, text: str, known: Collection[str]) -> list[str]:
    """Return the names of nodes in a text; raise InputError of a field, with the position, for anything else."""
    names, nodes = frozenset(known), list[NodeSlots]()
    for word in filter(None, re.split(r"[\s;]+", text)):
        nodes += _resolve(field, names, word, "", len(nodes))
    if any(node.slots is not None for node in nodes):
        raise InputError(field, f"expected names without slots, got {describe(text)}")
    return [node.node for node in nodes]


def _is_file(text: str) -> bool:
    """Return whether there is a file of a name, which may be no name that the system takes."""
    with suppress(OSError, ValueError):
        return Path(text).is_file()
    return False


def _read_variables() -> str:
    """Return what the variables of a job of Slurm say of its nodes, which have to be there."""
    names = (NODE_LIST, TASKS_PER_NODE, CPUS_PER_TASK)
    found = {name: os.environ[name] for name in names if os.environ.get(name)}
    if NODE_LIST not in found:
        raise InputError(FIELD, f"expected {NODE_LIST} in the environment, as in a job of Slurm, got none")
    if TASKS_PER_NODE not in found:
        found.pop(CPUS_PER_TASK, None)
    return "\n".join(f"{name}={value}" for name, value in found.items())


def _read(field: str, text: str, known: frozenset[str]) -> HostSlots:
    """Return the nodes of a text and their slots."""
    return read_host_file(field, text, partial(_resolve, field, known))


def _resolve(field: str, known: frozenset[str], word: str, _: str, before: int) -> list[NodeSlots]:
    """Return the nodes of a word: one name, one pattern, or those between its commas outside brackets.

    Raises InputError of a field, with the position, which counts the nodes before.
    """
    nodes = _find_whole(field, word, known)
    if nodes is None:
        nodes = [node for piece in split_list(word) for node in _expand_piece(field, piece, known)]
    unknown = [node.node for node in nodes if node.node not in known]
    if unknown:
        # Where nothing in it is a name, it is unclear whether its commas were meant to separate.
        got = describe(word) if len(unknown) == len(nodes) else f"{describe(unknown[0])} in {describe(word)}"
        what = "expected nodes of the topology, separated by blanks, semicolons or lines"
        position = before + [node.node for node in nodes].index(unknown[0])
        raise InputError(f"{field}/{position}", f"{what}, got {got}")
    return nodes


def _find_whole(field: str, word: str, known: frozenset[str]) -> list[NodeSlots] | None:
    """Return the nodes of a word whose commas are all parts of names, None where it is no such word."""
    for text, slots in _read_ways(word):
        if text in known:
            return [NodeSlots(text, slots)]
        with suppress(InputError):
            names = _expand_known(field, text, known)
            if known.issuperset(names):
                return [NodeSlots(name, slots) for name in names]
    return None


def _expand_piece(field: str, piece: str, known: frozenset[str]) -> list[NodeSlots]:
    """Return the nodes of one name or pattern, with slots behind it unless it is a name as it is."""
    if piece in known:
        return [NodeSlots(piece)]
    text, slots = split_count(piece)
    names = [text] if text in known else _expand_known(field, text, known)
    return [NodeSlots(name, slots) for name in names]


def _read_ways(word: str) -> Iterator[NodeSlots]:
    """Return a word as it is, and without the slots behind it where there are some."""
    yield NodeSlots(word)
    counted = split_count(word)
    if counted.slots is not None:
        yield counted


def _expand_known(field: str, piece: str, known: frozenset[str]) -> list[str]:
    """Return the names that text with brackets stands for, at most as many as there are nodes."""
    return expand(field, piece, len(known), f"the {len(known)} nodes of the topology")
