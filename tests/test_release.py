"""Tests of what others install: the archive of the source and the wheel, in environments that hold nothing else."""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.test_packaging import PROJECT, ROOT

EXTRAS = {"dask": "distributed", "dwave": "dwave-system", "plot": "matplotlib", "postgres": "psycopg"}
CHOICES = ["", *EXTRAS, "all"]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the two archives of a release by their endings, made from the files that git knows."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in listed.strip("\0").split("\0"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name, follow_symlinks=False)
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(made), str(source)]
    subprocess.run(build, check=True, capture_output=True, cwd=made)
    return {path.suffix: path for path in made.iterdir()}


def _install(folder: Path, archive: Path, extra: str) -> Path:
    """Return the programs of a new environment with an archive and an extra; skip where no index can be reached."""
    venv.create(folder, with_pip=True)
    wanted = f"{archive}[{extra}]" if extra else str(archive)
    pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wanted]
    made = subprocess.run(pip, capture_output=True, text=True, check=False)
    if "No matching distribution" in made.stderr:
        pytest.skip(f"needs an index of packages: {made.stderr[-200:]}")
    assert made.returncode == 0, made.stderr
    return folder / "bin"


def _run(program: Path, *arguments: str) -> str:
    """Return what a program prints that ends well, away from the checkout."""
    command = [str(program), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=program.parent).stdout


@pytest.mark.long
@pytest.mark.parametrize("extra", CHOICES)
def test_a_wheel_and_its_extras_can_be_installed(archives: dict[str, Path], extra: str, tmp_path: Path) -> None:
    """Doctor finds all that is needed, and names the extras that are missing; the main uses run without any."""
    bin_ = _install(tmp_path / "venv", archives[".whl"], extra)
    found = {each["name"]: each for each in json.loads(_run(bin_ / "tiger", "doctor", "--json", "-"))["findings"]}
    there = {name for name, package in EXTRAS.items() if found[package]["good"]}
    assert there == ({extra} & set(EXTRAS) if extra != "all" else set(EXTRAS))
    assert found["tiger"]["value"] == PROJECT["project"]["version"]
    examples = ROOT / "examples"
    solve = ["assign", str(examples / "butko11.ram"), "--topology", str(examples / "mesh_2x2_het.arc")]
    assert "solved: cost 388" in _run(bin_ / "tiger", *solve, "--solver", "neal")
    qiskit = "from qiskit.transpiler.preset_passmanagers.plugin import list_stage_plugins as names"
    assert "tiger" in _run(bin_ / "python", "-c", f"{qiskit}; print(names('layout'), names('routing'))")
    assert "TIGER_DATABASE_URL" in _run(bin_ / "tiger", "serve", "--show-config")


@pytest.mark.long
def test_the_archive_of_the_source_can_be_installed(archives: dict[str, Path], tmp_path: Path) -> None:
    """It holds the rooms that lie beside the package."""
    bin_ = _install(tmp_path / "venv", archives[".gz"], "")
    assert "torus" in _run(bin_ / "tiger", "topologies")
