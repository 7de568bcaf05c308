"""How many files of fronts name an option: each should follow from its field.

    python -m benchmarks.options

prints, for each option that one use alone has, the files of the command line, the client, the service and the pictures
that name it, and the largest number of them. What is asked about (tasks, a circuit, a model, hardware) is no option,
and what all searches have in common is exempt. A file names an option where it deals with the use, that is, imports
something of its room or a schema that does, and has the name as that of an argument of a call, a parameter, a field of
a dataclass, an attribute of what holds options (HOLDERS), the field of an InputError, or, in the client, a key of a
document. Texts elsewhere are no options, and of words that mean other things, too (WORDS), attributes alone count.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path

from benchmarks import rooms
from tiger.run.use import Use
from tiger.uses import list_uses

FRONTS = ("cli", "client", "api", "plotting")
SHARED = {"seed", "effort", "solver", "time_limit_s"}
# What is asked about: fields without a default, and hardware that a file of tasks may bring.
INPUTS = {"topology"}
# What else is a kind: a job, a report, a dataclass.
WORDS = {"kind"}
# Variables that hold options.
HOLDERS = {"arguments", "asked", "body", "call", "options", "params", "request", "self", "stated"}


@cache
def list_files() -> dict[Path, frozenset[str]]:
    """Return the files of fronts, each with the names that it may have of options."""
    found = {}
    for path in rooms.sources():
        room = rooms.room_of(rooms.module_of(path))
        if room in FRONTS:
            text = (rooms.ROOT / path).read_text(encoding="utf-8")
            nodes = ast.walk(ast.parse(text))
            found[path] = frozenset(name for node in nodes for name in _names(node, documents=room == "client"))
    return found


def _names(node: ast.AST, *, documents: bool) -> Iterator[str]:
    """Yield what a node of a syntax tree names an option by, keys only where there are `documents` of requests."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in HOLDERS:
        yield node.attr
    words: list[object] = []
    if isinstance(node, ast.ClassDef) and node.decorator_list:
        words = [getattr(each.target, "id", None) for each in node.body if isinstance(each, ast.AnnAssign)]
    elif isinstance(node, ast.arg):
        words = [node.arg]
    elif isinstance(node, ast.Dict) and documents:
        words = [getattr(key, "value", None) for key in node.keys]
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "id", None)
        words = [] if name == "dataclass" else [each.arg for each in node.keywords]
        words += [getattr(each, "value", None) for each in node.args[:1]] if name == "InputError" else []
    yield from (word for word in words if isinstance(word, str) and word not in WORDS)


@cache
def list_dealing(use: Use) -> frozenset[Path]:
    """Return the files of fronts that deal with a use: they import something of its room, or a schema that does."""
    home = use.call.__module__.rpartition(".")[0].removesuffix(".entry")
    imported = {path: rooms.read_module(path)[0] for path in list_files()}
    near = {path for path, names in imported.items() if any(name.startswith(home) for name in names)}
    schemas = {rooms.module_of(path) for path in near if path.parts[:2] == ("api", "schemas")}
    return frozenset(near | {path for path, names in imported.items() if schemas & set(names)})


def count_files() -> dict[tuple[str, str], list[str]]:
    """Return the files of fronts that name each option that one use alone has, by use and option."""
    times = Counter(each.name for use in list_uses() for each in fields(use.call))
    return {
        (use.name, each.name): [
            str(path) for path, names in list_files().items() if each.name in names and path in list_dealing(use)
        ]
        for use in list_uses()
        for each in fields(use.call)
        if times[each.name] == 1 and each.name not in SHARED | INPUTS and each.default is not MISSING
    }


def main() -> int:
    """Print the table and the largest number."""
    counts = count_files()
    for (use, option), files in counts.items():
        print(f"{use:10} {option:16} {len(files)} {' '.join(files)}")
    print(f"largest {max(map(len, counts.values()))} of {len(counts)} options")
    return 0


if __name__ == "__main__":
    sys.exit(main())
