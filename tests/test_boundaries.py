"""Tests of the house: which room imports which, the links between them, and what importing costs."""

import ast
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiger

ROOT = Path(__file__).resolve().parents[1]
LINKED = ("solvers", "partition", "api")

VALUES = {"errors", "model"}
ARRAYS = {"numpy", "scipy"}
GRAPHS = ARRAYS | {"networkx"}
LEAF = GRAPHS | {"numba", "dimod", "dwave", "minorminer", "neal"}
SERVICE = {
    "dbos",
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
    "uvicorn",
}
# Room: the rooms it may import beside itself, and the third parties. What is not named here must stay out.
ROOMS: dict[str, tuple[set[str], set[str]]] = {
    "errors": (set(), set()),
    "model": ({"errors"}, ARRAYS),
    "bounds": (VALUES | {"solvers"}, ARRAYS),
    "core": (VALUES | {"bounds"}, GRAPHS | {"dimod"}),
    "topologies": (VALUES, GRAPHS),
    "formats": (VALUES | {"topologies"}, GRAPHS),
    "solvers": (VALUES, LEAF),
    "partition": (VALUES, LEAF),
    "executors": (VALUES | {"core", "package"}, {"dask", "distributed"}),
    "mapper": (VALUES | {"bounds", "core", "executors", "solvers", "partition"}, ARRAYS | {"dimod"}),
    "door": (VALUES | {"core", "formats", "topologies", "mapper"}, GRAPHS | {"dimod"}),
    "circuits": (
        VALUES | {"core", "topologies", "formats", "solvers", "partition", "mapper", "door"},
        GRAPHS | {"dimod", "numba", "openqasm3", "qiskit", "qiskit_qasm3_import", "rustworkx"},
    ),
    "pipeline": (
        VALUES | {"core", "topologies", "formats", "solvers", "partition", "mapper", "door"},
        GRAPHS | {"dimod", "numba"},
    ),
    "plot": (VALUES | {"core", "pipeline"}, GRAPHS | {"matplotlib"}),
    "api": (
        VALUES
        | {
            "core",
            "executors",
            "formats",
            "topologies",
            "solvers",
            "mapper",
            "door",
            "circuits",
            "pipeline",
            "package",
        },
        SERVICE,
    ),
    "cli": (
        VALUES
        | {
            "bounds",
            "core",
            "topologies",
            "solvers",
            "mapper",
            "door",
            "circuits",
            "pipeline",
            "plot",
            "api",
            "remote",
            "package",
        },
        {"typer", "rich"},
    ),
    "remote": (
        VALUES | {"core", "formats", "topologies", "mapper", "door", "circuits", "pipeline", "package"},
        GRAPHS | {"dimod", "httpx", "qiskit"},
    ),
    "package": (set(), set()),
}
# Modules of one file that belong to a room of another name; every other one is core.
FILES = {
    **dict.fromkeys(("exchange", "portfolio", "recorded", "request", "sampling", "testing"), "mapper"),
    **dict.fromkeys(("samplefile", "terms"), "door"),
    **dict.fromkeys(("bars", "charts", "gantt", "panels", "planchart"), "plot"),
    "client": "remote",
    "fanout": "executors",
    **dict.fromkeys(("__main__", "cli_plan", "console", "options", "plansummary", "summary", "warming"), "cli"),
}


def sources() -> Iterator[Path]:
    """Yield every module of the four rooms once, relative to the root."""
    for room in ("tiger", *LINKED):
        for folder, _, files in os.walk(ROOT / room):
            yield from (Path(folder, file).relative_to(ROOT) for file in files if file.endswith(".py"))


def room_of(module: str) -> str:
    """Return the room that a module of tiger belongs to."""
    parts = module.split(".")
    if len(parts) == 1:
        return "package"
    return FILES.get(parts[1], parts[1] if parts[1] in ROOMS else "core")


def imports(tree: ast.AST) -> Iterator[str]:
    """Yield the full name of every module that is imported, or may be, anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            submodules = (alias.name for alias in node.names if (ROOT / "tiger" / f"{alias.name}.py").exists())
            names = [f"tiger.{name}" for name in submodules] if node.module == "tiger" else []
            yield from names or [str(node.module)]


@pytest.mark.parametrize("path", sorted(sources()), ids=str)
def test_rooms_import_in_one_direction(path: Path) -> None:
    """A module imports from the rooms below its own, and only the third parties that its room may use."""
    module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    room = room_of(module if path.parts[0] == "tiger" else f"tiger.{module}")
    rooms, parties = ROOMS[room]
    for name in imports(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        top = name.split(".")[0]
        if top == "tiger":
            # The package itself names its public modules for type checkers alone.
            assert room_of(name) in rooms | {room} or room == "package", f"{path} imports {name}"
        else:
            assert top in parties or top in sys.stdlib_module_names, f"{path} imports {name}"


def test_the_package_imports_nothing_when_it_is_imported() -> None:
    """The public names of `tiger` are only imported under TYPE_CHECKING, or by name when asked for."""
    tree = ast.parse((ROOT / "tiger/__init__.py").read_text(encoding="utf-8"))
    eager = [name for node in tree.body if not isinstance(node, ast.If) for name in imports(node)]
    assert set(eager) <= {"importlib", "typing"}


def test_the_table_forbids_what_it_should() -> None:
    """The core knows no service, no circuits and no quantum hardware, and the leaves know values alone."""
    assert not ROOMS["core"][1] & {"fastapi", "uvicorn", "qiskit", "dwave", "numba"}
    assert [room for room, (_, parties) in ROOMS.items() if "fastapi" in parties] == ["api"]
    assert ROOMS["solvers"][0] == ROOMS["partition"][0] == {"errors", "model"}


@pytest.mark.parametrize("name", LINKED)
def test_links_are_relative_and_resolve(name: str) -> None:
    """The rooms beside the package are seen inside it through relative links."""
    assert os.readlink(ROOT / "tiger" / name) == f"../{name}"  # noqa: PTH115
    assert (ROOT / "tiger" / name / "__init__.py").is_file()


def python(code: str) -> tuple[str, float]:
    """Return what a new interpreter prints, and the fewest seconds of three runs."""
    seconds, printed = [], ""
    for _ in range(3):
        start = time.perf_counter()
        printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        seconds.append(time.perf_counter() - start)
    return printed.strip(), min(seconds)


def test_importing_tiger_is_cheap() -> None:
    """`import tiger` loads no library that compiles, draws, serves or samples."""
    heavy = {"dimod", "dwave", "fastapi", "matplotlib", "networkx", "numba", "numpy", "qiskit", "scipy", "typer"}
    printed, seconds = python(f"import sys, tiger; print(sorted({heavy} & set(sys.modules)))")
    assert printed == "[]"
    assert seconds <= 0.6


def test_help_is_quick() -> None:
    """`tiger --help` takes at most half a second, here with as much again for a busy machine."""
    printed, seconds = python("from tiger.cli import run; run(['--help'])")
    assert "assign" in printed
    assert seconds <= 1.0


def test_no_public_name_is_that_of_a_module() -> None:
    """Importing `tiger.x` sets the attribute `x` of the package, and would hide what is public under that name."""
    assert [name for name in tiger.__all__ if (ROOT / "tiger" / f"{name}.py").exists()] == []
