"""Tests of the places where measured tables stand in the documentation."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("page", ["README.md", "docs/benchmarks.md", "docs/operations.md"])
def test_every_table_has_both_its_markers(page: str) -> None:
    """So that measuring one again replaces it, and nothing else."""
    text = (ROOT / page).read_text(encoding="utf-8")
    marks = re.findall(r"<!-- (table|end)\b", text)
    assert marks == ["table", "end"] * (len(marks) // 2)
