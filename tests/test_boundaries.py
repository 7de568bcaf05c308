"""Tests of the house: which room imports which, the links between them, and what importing costs."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest

import tiger
from benchmarks import rooms

ROOT = Path(__file__).resolve().parents[1]

# The most rooms, floors and arrows between rooms that a reader can be asked to keep in mind, and the largest share of
# the package's lines that one of them may hold: placement, where plans that train and plans that serve share a search.
ROOMS, FLOORS, ARROWS, SHARE_OF_LINES = 27, 14, 130, 0.15
# Rooms that know no others than these; every other one may import any below it.
BELOW = {
    "errors": set[str](),
    "model": {"errors"},
    "topologies": {"errors", "model"},
    "formats": {"errors", "model", "topologies"},
    "solvers": {"errors", "model"},
    "partition": {"errors", "model"},
    "bounds": {"errors", "model", "solvers"},
    "training": {"errors", "formats", "model"},
    "expert_maps": {"errors", "formats", "model", "run", "solvers", "training"},
}
# Class names that may have two definitions: what REST, the client or the command line must call as the value it is.
TWICE = {"Command", "FileText", "Group", "Kind", "Network", "Picture", "Problem", "TaskGraph", "Verdict"}
# Words that only this code had for slots, distances, inputs and factors of seconds; lanes are of links and of SIMD.
PRIVATE = {"away", "crowd", "held", "pace", "paces", "seat", "seats", "spot", "spots", "stated"}
# Bytes held by activations, as files and reports have it, and REST schemas.
KNOWN_WORDS = {"held_bytes", "PlanStated"}
ARRAYS = {"numpy", "scipy"}
GRAPHS = ARRAYS | {"networkx"}
# The third parties of a room. Kernels are compiled in leaves, and one room knows the service.
PARTIES = {
    # Reports say that they return figures and tables, and load neither before they are asked for one.
    "model": ARRAYS | {"matplotlib", "pandas"},
    "bounds": GRAPHS,
    "objectives": ARRAYS,
    "feasibility": ARRAYS,
    "topologies": GRAPHS,
    "formats": GRAPHS | {"yaml"},
    "solvers": GRAPHS | {"numba", "llvmlite", "dimod", "dwave", "minorminer", "neal"},
    "partition": GRAPHS | {"numba", "dimod"},
    "qubo": ARRAYS | {"dimod"},
    "run": ARRAYS | {"dask", "distributed", "matplotlib", "rich"},
    "mapping": GRAPHS | {"dimod", "matplotlib"},
    "routing": ARRAYS | {"dimod", "rustworkx"},
    "circuits": ARRAYS | {"matplotlib", "openqasm3", "qiskit", "qiskit_qasm3_import", "rustworkx"},
    # Headers of GGUF files, and measured times of operations, where the extras are installed.
    "training": ARRAYS | {"gguf", "pyarrow"},
    "placement": ARRAYS | {"dimod", "matplotlib"},
    "planning": ARRAYS | {"matplotlib"},
    "expert_maps": ARRAYS | {"matplotlib"},
    "rebalancing": ARRAYS | {"matplotlib"},
    "plotting": {"matplotlib"},
    "client": GRAPHS | {"dimod", "httpx", "qiskit"},
    "cli": {"typer", "rich"},
    "api": {
        "numpy",
        "h11",
        "prometheus_client",
        "sqlalchemy",
        "fastapi",
        "fastapi_offline",
        "pebble",
        "pydantic",
        "pydantic_core",
        "pydantic_settings",
        "starlette",
        "structlog",
        "typing_extensions",
        "uvicorn",
    },
}


def test_rooms_import_in_one_direction() -> None:
    """There is no circle among rooms, and few enough of them, of floors and of arrows to draw on a page."""
    arrows = rooms.arrows()
    assert [sorted(some) for some in nx.strongly_connected_components(arrows) if len(some) > 1] == []
    for room, below in BELOW.items():
        assert set(arrows.successors(room)) <= below, room
    assert len(arrows) <= ROOMS
    assert len(rooms.floors(arrows)) <= FLOORS
    assert arrows.number_of_edges() <= ARROWS


def test_parts_of_a_room_import_in_one_direction() -> None:
    """There is no circle among the folders and files of any room."""
    assert [sorted(some) for some in nx.strongly_connected_components(rooms.parts()) if len(some) > 1] == []


def test_no_room_holds_too_large_a_share_of_the_lines() -> None:
    """What a room holds can be read as one thing."""
    lines = Counter[str]()
    for path, (room, _) in rooms.list_imports().items():
        lines[room] += (ROOT / path).read_text(encoding="utf-8").count("\n")
    assert {room: count for room, count in lines.items() if count > SHARE_OF_LINES * lines.total()} == {}


def test_the_picture_of_the_architecture_is_up_to_date() -> None:
    """`python -m benchmarks.rooms` draws it, and writes its table."""
    assert rooms.PICTURE.read_text(encoding="utf-8") == rooms.picture()
    assert rooms.PAGE.read_text(encoding="utf-8") == rooms.page()


def test_no_modules_import_each_other() -> None:
    """There is no circle of modules, either, not even of imports inside functions or for type checkers alone."""
    known = {rooms.module_of(path): names for path, (_, names) in rooms.list_imports().items()}
    arrows = nx.DiGraph((module, name) for module, names in known.items() for name in names if name in known)
    # Both name what is public in them, and import it when it is asked for.
    arrows.remove_nodes_from(["tiger", "tiger.client"])
    assert [sorted(some) for some in nx.strongly_connected_components(arrows) if len(some) > 1] == []


def test_a_class_name_has_one_meaning() -> None:
    """No other names than those listed are defined twice in the package."""
    names = Counter(name for kind, name in defined() if kind is ast.ClassDef)
    assert {name for name, count in names.items() if count > 1} == TWICE


def test_no_name_has_a_private_word() -> None:
    """Classes and functions are named by words of the field."""
    words = {name: set(re.findall("[A-Z]?[a-z]+", name)) for _, name in defined()}
    assert {name for name, parts in words.items() if PRIVATE & {part.lower() for part in parts}} == KNOWN_WORDS


def defined() -> list[tuple[type[ast.AST], str]]:
    """Return the kinds and names of all classes and functions of the package."""
    return [each for path in rooms.list_imports() for each in rooms.read_module(path)[1]]


def top_names(names: list[str]) -> set[str]:
    """Return the packages that modules are in."""
    return {name.split(".")[0] for name in names}


def test_rooms_import_no_other_third_parties() -> None:
    """A library is used by the rooms that are named for it, so that the service and Qiskit stay out of the others."""
    for path, (room, names) in rooms.list_imports().items():
        tops = top_names(names) - set(sys.stdlib_module_names) - {"tiger"}
        assert tops <= PARTIES.get(room, set()), f"{path} imports {tops - PARTIES.get(room, set())}"


def test_only_fronts_and_circuits_import_the_service_or_qiskit() -> None:
    """What searches for layouts and routes of circuits knows gate DAGs alone."""
    known = {room for room, names in rooms.list_imports().values() if {"fastapi", "qiskit"} & top_names(names)}
    assert known <= {"circuits", *rooms.PARTS["front"]}


def test_the_package_imports_nothing_when_it_is_imported() -> None:
    """The public names of `tiger` are only imported under TYPE_CHECKING, or by name when asked for."""
    tree = ast.parse((ROOT / "tiger/__init__.py").read_text(encoding="utf-8"))
    eager = [name for node in tree.body if not isinstance(node, ast.If) for name in rooms.imports(node)]
    assert set(eager) <= {"importlib", "typing"}


@pytest.mark.parametrize("name", rooms.LINKED)
def test_links_are_relative_and_resolve(name: str) -> None:
    """The rooms beside the package are seen inside it through relative links."""
    assert os.readlink(ROOT / "tiger" / name) == f"../{name}"  # noqa: PTH115
    assert (ROOT / "tiger" / name / "__init__.py").is_file()


HEAVY = {"dimod", "dwave", "fastapi", "matplotlib", "networkx", "numba", "pydantic", "qiskit", "scipy"}


def loaded(code: str) -> set[str]:
    """Return the modules that code loads into a new interpreter, on which its seconds depend."""
    told = (
        f"import atexit, sys; old = set(sys.modules); atexit.register(lambda: print(*set(sys.modules) - old)); {code}"
    )
    printed = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True).stdout
    return set(printed.splitlines()[-1].split())


def test_importing_tiger_is_cheap() -> None:
    """`import tiger` loads no library that compiles, draws, serves or samples, and few modules: they take 10 ms."""
    modules = loaded("import tiger")
    assert (HEAVY | {"numpy", "typer"}) & modules == set()
    assert len(modules) <= 30


def test_help_is_quick() -> None:
    """`tiger --help` loads what half a second is enough for."""
    modules = loaded("from tiger.cli.app import run; run(['--help'])")
    assert HEAVY & modules == set()
    assert "tiger.cli.app" in modules
    assert len(modules) <= 500


def test_no_public_name_is_that_of_a_module() -> None:
    """Importing `tiger.x` sets the attribute `x` of the package, and would hide what is public under that name."""
    assert [name for name in tiger.__all__ if rooms.is_module("tiger", name)] == []
