"""Files in requests, as their names and their texts; none is ever opened."""

from pathlib import Path

from pydantic.config import JsonDict

from tiger.errors import InputError
from tiger.formats.jsontext import read_json
from tiger.formats.text import find_file, text_of

FILE: JsonDict = {
    "type": "object",
    "required": ["file", "text"],
    "properties": {"file": {"type": "string"}, "text": {"type": "string"}},
    "additionalProperties": False,
}


def open_document(field: str, stated: object) -> object:
    """Return the document in the text of a JSON file, so that it can be measured, and anything else as it is.

    Raises InputError of `field` for a text that is no JSON, and for one that states another file.
    """
    file = find_file(field, stated)
    if file is None or Path(file.file).suffix.lower() != ".json":
        return stated
    document = read_json(text_of(file, field), field)
    if find_file(field, document) is not None:
        raise InputError(field, "expected the text of a file, got that of another file in it")
    return document
