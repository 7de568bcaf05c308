"""The JSON documents of requests and answers."""

import json
import re

from tiger.errors import InputError
from tiger.model.document import Document
from tiger.model.jsontext import read_json

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse(body: bytes) -> object:
    """Return the value that a body states; raise InputError of `body` unless it is strict JSON in UTF-8."""
    try:
        data = read_json(body.decode())
        if SURROGATE.search(body):
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeError:
        raise InputError("body", "expected Unicode text in UTF-8, got something else") from None
    return data


def encode(document: Document) -> bytes:
    """Return a document as strict JSON."""
    return json.dumps(document.to_dict(), allow_nan=False).encode()
