"""Files of mappings: reports, JSON objects of names, and tables of text."""

import csv
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.text import read_text
from tiger.model.wording import describe

HEADERS = (["task", "node"], ["name", "device"])


def read_mapping(path: Path, field: str) -> dict[str, str]:
    """Return where a file says that everything goes, by name: {task: node}.

    The file is a report or another JSON object with a `mapping`, a JSON object of names alone, or comma-separated
    values `task,node`, where names that hold commas stand in quotes, a header may come first, and lines that begin
    with `#` say nothing. Raises InputError of a field, for a table with the line.
    """
    text = read_text(path, field)
    return mapping_of(read_json(text, field), field) if text.lstrip().startswith("{") else read_table(text, field)


def mapping_of(document: object, field: str) -> dict[str, str]:
    """Return the mapping of a JSON object; raise InputError of a field."""
    if not isinstance(document, Mapping):
        raise InputError(field, f"expected a JSON object, got {describe(document)}")
    mapping = document["mapping"] if isinstance(document.get("mapping"), Mapping) else document
    wrong = next(((name, place) for name, place in mapping.items() if not isinstance(place, str)), None)
    if wrong is not None:
        reason = f"expected a report or an object of names, got {describe(wrong[1])} for {describe(wrong[0])}"
        raise InputError(field, reason)
    return dict(mapping)


def read_table(text: str, field: str) -> dict[str, str]:
    """Return the mapping of comma-separated values; raise InputError of a field, with the line."""
    reader = csv.reader(StringIO(text, newline=""), skipinitialspace=True, strict=True)
    mapping = dict[str, str]()
    try:
        for cells in reader:
            row = [cell.strip() for cell in cells]
            if not any(row) or row[0].startswith("#") or (not mapping and row in HEADERS):
                continue
            where = f"line {reader.line_num}"
            if len(row) != len(HEADERS[0]) or not all(row):
                raise InputError(field, f"{where}: expected two names with commas in quotes, got {len(row)} cells")
            if row[0] in mapping:
                raise InputError(field, f"{where}: expected each name once, got {describe(row[0])} again")
            mapping[row[0]] = row[1]
    except csv.Error as error:
        raise InputError(field, f"line {reader.line_num}: expected comma-separated values, got {error}") from None
    return mapping
