"""The rooms of the package: the folders and files directly under `tiger`, and which of them imports which.

    python -m benchmarks.rooms

prints how many modules, rooms, floors and arrows there are, draws docs/images/architecture.svg, and writes the table of
the rooms into docs/architecture.md. A room lies one floor above the highest that it imports. The picture leaves out
arrows that follow from others.
"""

import ast
import os
import sys
from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "architecture.svg"
PAGE, BEGIN, END = ROOT / "docs" / "architecture.md", "<!-- rooms -->\n", "<!-- end -->\n"
LINKED = ("solvers", "partition", "api")
WIDTH, HEIGHT, GAP, FLOOR, MARGIN = 148, 40, 22, 78, 24
COLOURS = {"application": "#fde4cf", "front": "#d8e8f7", "core": "#e9f0dd", "search": "#f6dede"}
PARTS = {
    "application": ("mapping", "circuits", "routing", "placement", "planning", "expert_maps", "rebalancing"),
    "front": ("api", "cli", "client", "plotting", "testing"),
    "search": ("solvers", "partition"),
}


def sources() -> Iterator[Path]:
    """Yield every module once, relative to the root of the project."""
    for room in ("tiger", *LINKED):
        for folder, _, files in os.walk(ROOT / room):
            yield from (Path(folder, file).relative_to(ROOT) for file in files if file.endswith(".py"))


def module_of(path: Path) -> str:
    """Return the full name of a module."""
    module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    return module if path.parts[0] == "tiger" else f"tiger.{module}"


def room_of(module: str) -> str:
    """Return the room of a module: its folder, or its file, directly under `tiger`; the package itself is `tiger`."""
    return [*module.split("."), "tiger"][1] if module != "tiger" else "tiger"


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the full name of every module that is imported, or may be, anywhere in a module."""
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield from {f"{node.module}.{alias.name}" if is_module(node.module, alias.name) else str(node.module)
                        for alias in node.names}  # fmt: skip


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all statements inside it, none of which is in an expression."""
    yield node
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        inner = getattr(node, name, ())
        for each in inner if isinstance(inner, list) else ():
            yield from _statements(each)


@cache
def is_module(package: str | None, name: str) -> bool:
    """Return whether a folder or a file of a package has this name."""
    folder = ROOT.joinpath(*str(package).split("."))
    return (folder / name).is_dir() or (folder / f"{name}.py").exists()


@cache
def list_imports() -> dict[Path, tuple[str, list[str]]]:
    """Return the room of every module and what it imports."""
    return {path: (room_of(module_of(path)), read_module(path)[0]) for path in sources()}


@cache
def read_module(path: Path) -> tuple[list[str], list[tuple[type[ast.AST], str]]]:
    """Return what a module imports, and the kinds and names of its classes and functions."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return list(imports(tree)), [(type(node), node.name) for node in _statements(tree) if isinstance(node, kinds)]


def arrows() -> nx.DiGraph:
    """Return the graph of the rooms, an arrow from each to those that it imports."""
    graph = nx.DiGraph()
    for room, names in list_imports().values():
        others = {room_of(name) for name in names if name.split(".")[0] == "tiger"} - {room, "tiger"}
        # The package itself names its public modules for type checkers alone.
        graph.add_edges_from((room, other) for other in others if room != "tiger")
    return graph


def part_of(module: str) -> str:
    """Return the part of a room that a module is in: a folder, or a file, directly under the room."""
    return ".".join(module.split(".")[:3])


def parts() -> nx.DiGraph:
    """Return the graph of the parts of all rooms, an arrow from each to those of the same room that it imports."""
    modules = {module_of(path): names for path, (_, names) in list_imports().items()}
    graph = nx.DiGraph()
    for module, names in modules.items():
        inside = {part_of(name) for name in names if name in modules and room_of(name) == room_of(module)}
        graph.add_edges_from((part_of(module), part) for part in inside - {part_of(module)})
    return graph


def floors(graph: nx.DiGraph) -> list[list[str]]:
    """Return the rooms of every floor, the lowest first: each lies above all that it imports."""
    generations = nx.topological_generations(graph.reverse())
    return [sorted(rooms) for rooms in generations]


def table() -> str:
    """Return a table of the rooms, the highest first, with the first sentence of what each says of itself."""
    lines = ["| room | what it is |", "| --- | --- |"]
    for rooms in reversed(floors(arrows())):
        lines += [f"| `tiger.{room}` | {_first_sentence(room)} |" for room in rooms]
    return "\n".join(lines)


def _first_sentence(room: str) -> str:
    """Return the first line of the docstring of a room."""
    home = ROOT / "tiger" / room
    text = (home / "__init__.py" if home.is_dir() else home.with_suffix(".py")).read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def draw() -> None:
    """Write the picture and the table where they are not up to date, and leave the files alone where they are."""
    for path, text in ((PICTURE, picture()), (PAGE, page())):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def page() -> str:
    """Return the page of the architecture with the table of the rooms as it is now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}{table()}\n{END}{rest.partition(END)[2]}"


def picture() -> str:
    """Return the picture of the rooms of the package."""
    graph = arrows()
    graph.remove_nodes_from(["__main__"])
    return svg(graph)


def svg(graph: nx.DiGraph) -> str:
    """Return the picture of the rooms on their floors, with the arrows that do not follow from others."""
    kept = nx.transitive_reduction(graph)
    rows = floors(graph)
    chains = _lead(kept, rows)
    _order(chains, rows)
    width = 2 * MARGIN + max(_width(row) for row in rows)
    height = 2 * MARGIN + len(rows) * HEIGHT + (len(rows) - 1) * (FLOOR - HEIGHT)
    at = {}
    for number, row in enumerate(rows):
        left, top = (width - _width(row)) / 2, height - MARGIN - HEIGHT - number * FLOOR
        for item in row:
            at[item] = (left + _size(item) / 2, top)
            left += _size(item) + GAP
    lines = [_arrow([at[item] for item in chain]) for chain in chains]
    boxes = [_box(room, *at[room]) for room in sorted(kept)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="sans-serif">'
    marker = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#888"/></marker></defs>'
    )
    return "\n".join([head, marker, '<rect width="100%" height="100%" fill="white"/>', *lines, *boxes, "</svg>", ""])


def _lead(graph: nx.DiGraph, rows: list[list[str]]) -> list[list[str]]:
    """Return every arrow as a chain of items, with a point of its own on each floor that it passes."""
    floor = {room: number for number, row in enumerate(rows) for room in row}
    chains = []
    for room, other in sorted(graph.edges):
        between = range(floor[room] - 1, floor[other], -1)
        points = [f"{room}>{other}>{number}" for number in between]
        for number, point in zip(between, points, strict=True):
            rows[number].append(point)
        chains.append([room, *points, other])
    return chains


def _order(chains: list[list[str]], rows: list[list[str]]) -> None:
    """Sort every floor by the mean place of the neighbours above and below, so that few arrows cross."""
    near = nx.Graph(pair for chain in chains for pair in pairwise(chain))
    place: dict[str, float] = {}
    for _ in range(12):
        for row in (*reversed(rows), *rows):
            known = {item: [place[n] for n in near[item] if n in place] for item in row}
            row.sort(key=lambda item: (sum(known[item]) / len(known[item]) if known[item] else 0.0, item))
            left = -_width(row) / 2
            for item in row:
                place[item] = left + _size(item) / 2
                left += _size(item) + GAP


def _size(item: str) -> float:
    """Return how wide an item is: a room, or a point of an arrow."""
    return 8 if ">" in item else WIDTH


def _width(row: list[str]) -> float:
    """Return how wide a floor is."""
    return sum(map(_size, row)) + (len(row) - 1) * GAP


def _box(room: str, centre: float, top: float) -> str:
    """Return the box of a room."""
    part = next((part for part, rooms in PARTS.items() if room in rooms), "core")
    return (
        f'<rect x="{centre - WIDTH / 2:g}" y="{top:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" '
        f'fill="{COLOURS[part]}" stroke="#777"/>'
        f'<text x="{centre:g}" y="{top + 25:g}" text-anchor="middle" font-size="15">{escape(room)}</text>'
    )


def _arrow(points: list[tuple[float, float]]) -> str:
    """Return the arrow from a room through points on the floors between to a room below."""
    path = f"M{points[0][0]:g} {points[0][1] + HEIGHT:g}"
    for (x, y), (u, v) in pairwise(points):
        begin, end = y + HEIGHT, v - (1 if (u, v) == points[-1] else 0)
        middle = (begin + end) / 2
        path += f"C{x:g} {middle:g} {u:g} {middle:g} {u:g} {end:g}"
        if (u, v) != points[-1]:
            path += f"V{v + HEIGHT:g}"
    return f'<path d="{path}" fill="none" stroke="#888" stroke-width="1.2" marker-end="url(#head)"/>'


def main() -> int:
    """Print the counts and draw the picture."""
    graph = arrows()
    print(f"modules {len(list(sources()))}")
    print(f"rooms {len(graph)}")
    print(f"floors {len(floors(graph))}")
    print(f"arrows {graph.number_of_edges()}")
    draw()
    return 0


if __name__ == "__main__":
    sys.exit(main())
