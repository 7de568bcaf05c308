"""How many files of fronts name an option: each should follow from its field.

    python -m benchmarks.options

prints, for each option that one use alone has, the files of the command line, the client, the service and the pictures
that name it, and the largest number of them. A file names an option where it deals with the use, that is, imports
something of its room or of its request's schema, and has the name as that of an argument, a parameter or a field, as a
text, or as an attribute of what holds options. What all searches have in common is exempt.
"""

import ast
import sys
from collections import Counter
from dataclasses import fields
from functools import cache
from pathlib import Path

from benchmarks import rooms
from tiger.run.use import Use
from tiger.uses import list_uses

FRONTS = ("cli", "client", "api", "plotting")
SHARED = {"seed", "effort", "solver", "time_limit_s"}
# Variables that hold options.
HOLDERS = {"arguments", "asked", "body", "call", "options", "params", "request", "stated"}


@cache
def list_files() -> dict[Path, tuple[frozenset[str], frozenset[str]]]:
    """Return the files of fronts, each with the modules that it imports and the names that it may have of options."""
    found = {}
    for path in rooms.sources():
        if rooms.room_of(rooms.module_of(path)) in FRONTS:
            tree = ast.parse((rooms.ROOT / path).read_text(encoding="utf-8"))
            found[path] = (
                frozenset(rooms.imports(tree)),
                frozenset(name for node in ast.walk(tree) for name in _names(node)),
            )
    return found


def _names(node: ast.AST) -> list[str]:
    """Return what a node of a syntax tree may name an option by."""
    if isinstance(node, ast.keyword | ast.arg):
        return [node.arg or ""]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in HOLDERS:
        return [node.attr]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return []


def deals_with(imported: frozenset[str], use: Use) -> bool:
    """Return whether a file that imports some modules deals with a use: its room, or what describes its request."""
    home = use.call.__module__.rpartition(".")[0].removesuffix(".entry")
    return any(name.startswith((home, "tiger.api.schemas.")) for name in imported)


def count_files() -> dict[tuple[str, str], list[str]]:
    """Return the files of fronts that name each option that one use alone has, by use and option."""
    times = Counter(each.name for use in list_uses() for each in fields(use.call))
    return {
        (use.name, each.name): [
            str(path)
            for path, (imported, names) in list_files().items()
            if each.name in names and deals_with(imported, use)
        ]
        for use in list_uses()
        for each in fields(use.call)
        if times[each.name] == 1 and each.name not in SHARED
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
