"""Tests of what is installed: one package, with all of it."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, version
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from tiger.api.routes.page import list_files

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {"tiger": "tiger", "solvers": "tiger/solvers", "partition": "tiger/partition", "api": "tiger/api"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def modules() -> dict[str, Path]:
    """Return every file of the package under its name in the wheel."""
    found = {}
    for room, home in ROOMS.items():
        for folder, _, files in os.walk(ROOT / room):
            inside = Path(home) / Path(folder).relative_to(ROOT / room)
            found |= {str(inside / file): Path(folder, file) for file in files if file.endswith((".py", ".typed"))}
    return found


def is_installed(name: str) -> bool:
    """Return whether a package is there; some are for other systems, and others for extras."""
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False


def list_pins(python: str) -> dict[str, str]:
    """Return the pinned version of every package for a version of Python."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    used = [pin for pin in pins if pin.marker is None or pin.marker.evaluate({"python_version": python})]
    assert len({pin.name for pin in used}) == len(used)
    return {pin.name: str(pin.specifier).removeprefix("==") for pin in used}


def test_every_package_on_disk_is_listed() -> None:
    """A folder with modules that is missing from the list would not be installed."""
    on_disk = {str(Path(name).parent).replace("/", ".") for name in modules()}
    assert on_disk == set(PROJECT["tool"]["setuptools"]["packages"])


def test_every_package_has_an_init_file() -> None:
    """No room is a namespace that others could write into."""
    folders = {path.parent for path in modules().values()}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def test_constraints_pin_every_dependency_exactly() -> None:
    """What the project asks for is pinned to one version, and no line says where to get it."""
    pins = list_pins("3.11")
    extras = PROJECT["project"]["optional-dependencies"].values()
    asked = [*PROJECT["project"]["dependencies"], *chain.from_iterable(extras)]
    names = {re.split(r"[\[<>=~!;]", line)[0].strip().lower().replace("_", "-") for line in asked}
    assert names - {PROJECT["project"]["name"]} <= set(pins)
    assert all(re.fullmatch(r"[0-9.]+(\.post[0-9]+)?", pin) for pin in pins.values())


def test_bug_pins_went_together_on_debian_12_alone() -> None:
    """Every version of Python has its pins: Debian 13 has 3.13, where a package of the tests asks for a newer SciPy."""
    old, new = list_pins("3.11"), list_pins("3.13")
    assert old.keys() == new.keys()
    assert {name for name, pin in new.items() if pin != old[name]} == {"scipy"}


@pytest.mark.slow
def test_bug_no_pin_needs_a_newer_python_than_debian_has() -> None:
    """Debian 12 has Python 3.11.2: a dependency that asked for 3.11.5 made every target of make fail there."""
    used = [name for name, pin in list_pins("3.11").items() if is_installed(name) and version(name) == pin]
    asked = {name: metadata(name).get_all("Requires-Python", []) for name in used}
    assert len(asked) > 50
    assert [
        name for name, pythons in asked.items() if any("3.11.2" not in SpecifierSet(each) for each in pythons)
    ] == []


@pytest.mark.slow
@pytest.mark.skipif(int(version("setuptools").split(".")[0]) < 77, reason="needs setuptools 77 to build")
def test_the_wheel_holds_the_whole_package_and_nothing_else(tmp_path: Path) -> None:
    """The top level is `tiger` alone, with every module of the four rooms inside."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", str(tmp_path)]
    subprocess.run(build, check=True, capture_output=True, cwd=tmp_path)
    with ZipFile(next((tmp_path / "dist").glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    assert {name.split("/")[0] for name in names} == {
        "tiger",
        f"tiger_mapper-{PROJECT['project']['version']}.dist-info",
    }
    page = {f"tiger/api/page/{name}" for name in list_files()}
    assert {name for name in names if name.startswith("tiger/")} == set(modules()) | page


def test_commits_are_checked_by_the_tools_of_make_lint() -> None:
    """The hook calls the target, which formats; .ci/run has it check the format alone."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"entry: (.*)", hooks) == ["make lint"]
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    assert "ruff format $(FORMAT)" in recipe
    assert "make lint FORMAT=--check" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_all_that_is_to_be_checked_is_begun_and_waited_for() -> None:
    """No function is left uncalled, and no check beside the tests is killed at the end as one that failed."""
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    functions = re.findall(r"^(\w+)\(\) \{$", text, re.MULTILINE)
    assert [name for name in functions if len(re.findall(rf"\b{name}\b", text)) < 2] == []
    begun = re.findall(r"^begin (\w+) ", text, re.MULTILINE)
    assert begun
    assert sorted(begun) == sorted(re.findall(r" end (\w+)$", text, re.MULTILINE))
