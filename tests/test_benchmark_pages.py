"""Tests of the places where measured tables stand in the documentation."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("page", ["README.md", "docs/benchmarks.md", "docs/operations.md"])
def test_every_table_has_both_its_markers(page: str) -> None:
    """So that measuring one again replaces it, and nothing else."""
    text = (ROOT / page).read_text(encoding="utf-8")
    marks = re.findall(r"<!-- (table|end)\b", text)
    assert marks == ["table", "end"] * (len(marks) // 2)


@pytest.mark.slow
def test_every_measurement_can_be_imported() -> None:
    """Names that move are followed by what measures."""
    names = [f"benchmarks.{path.stem}" for path in (ROOT / "benchmarks").glob("*.py") if path.stem[0] != "_"]
    code = f"from importlib import import_module\nfor name in {names}: import_module(name)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
