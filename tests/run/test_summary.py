"""Tests of what the summary of all uses have in common."""

import pytest

from tiger.run import summary
from tiger.run.summary import table


@pytest.mark.parametrize("width", [200, 60, 40, 20])
def test_figures_and_names_are_never_cut(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A narrow terminal wraps texts, and is exceeded where that does not suffice."""
    monkeypatch.setattr(summary, "columns", lambda: width)
    words = "one two three four five six seven eight"
    lines = table(("solver", "cost", "what it does"), [("leap-bqm", "12,345.678 of 20,000", words)]).splitlines()
    assert lines[1].startswith("leap-bqm  12,345.678 of 20,000  one")
    assert " ".join(line[32:].strip() for line in lines[1:]) == words
    assert max(map(len, lines)) <= max(width, 44)


def test_long_names_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have no blanks to be wrapped at, and the figures beside them are kept."""
    monkeypatch.setattr(summary, "columns", lambda: 20)
    lines = table(("task", "cost"), [("x" * 30, "123456")]).splitlines()
    assert "".join(line[:12].split(" ")[0] for line in lines[1:]) == "x" * 30
    assert lines[1].endswith(" 123456")


def test_a_table_has_a_header() -> None:
    """Columns line up under their names."""
    assert table(("a", "b"), [("1", "2"), ("333", "4")]) == "a    b\n1    2\n333  4\n"
