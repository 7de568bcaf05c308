"""Files in requests, as their names and their texts; none is ever opened."""

from pathlib import Path
from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from tiger.errors import InputError
from tiger.model.jsontext import read_json
from tiger.model.text import find_file, text_of


class FileText(TypedDict):
    """Hold a file as its name, whose ending says what it is, and its text."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # as pydantic documents

    file: str
    text: str


class UploadReference(TypedDict):
    """Refer to a file that was uploaded, by its id; the name, whose ending says what it is, is its own if left out."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # as pydantic documents

    upload: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    file: NotRequired[str]


FileBody = FileText | UploadReference


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
