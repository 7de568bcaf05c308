"""Tests of files of mappings."""

import re
from pathlib import Path

import pytest

from tiger.errors import InputError
from tiger.formats.mappings import read_mapping


def read(folder: Path, text: str) -> dict[str, str]:
    """Return the mapping of a text."""
    path = folder / "mapping"
    path.write_text(text, encoding="utf-8")
    return read_mapping(path, "start")


@pytest.mark.parametrize(
    "text",
    [
        '{"mapping": {"a": "0,1", "b": "n2"}, "cost": 4}',
        '{"a": "0,1", "b": "n2"}',
        'task,node\n# of yesterday\na, "0,1"\n\nb,n2\n',
        'a,"0,1"\nb,n2',
    ],
)
def test_reports_objects_and_tables_say_the_same(tmp_path: Path, text: str) -> None:
    """Each of them has the names of two tasks and their nodes."""
    assert read(tmp_path, text) == {"a": "0,1", "b": "n2"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,0,1\n", "line 1: expected two names with commas in quotes, got 3 cells"),
        ("a,n1\nb,\n", "line 2: expected two names"),
        ("a,n1\nb,n2\na,n3\n", "line 3: expected each name once, got 'a' again"),
        ('a,"n1\n', "expected comma-separated values"),
        ('{"a": 1}', "expected a report or an object of names, got 1 for 'a'"),
        ('{"a": ', "expected JSON"),
    ],
)
def test_other_files_are_refused_by_line_or_task(tmp_path: Path, text: str, reason: str) -> None:
    """Nothing is left out silently."""
    with pytest.raises(InputError, match=re.escape(reason)) as caught:
        read(tmp_path, text)
    assert caught.value.field == "start"
