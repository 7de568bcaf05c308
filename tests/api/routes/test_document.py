"""Strict parsing of a request's document."""

import pytest

from tiger.api.routes.document import parse
from tiger.errors import InputError


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{'a': 1}",
        b'{"a": 1} x',
        b'{"a": 1, "a": 2}',
        b"\xff\xfe",
        b'"\\ud800"',
        b'{"\\uDFFF": 1}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 5_000,
    ],
)
def test_what_is_not_strict_json_is_bad_input_of_the_body(body: bytes) -> None:
    """Syntax, encoding, lone surrogates, duplicate keys, depth and digits are all refused."""
    with pytest.raises(InputError) as refusal:
        parse(body)
    assert refusal.value.field == "body"


def test_a_pair_of_surrogates_is_a_character() -> None:
    """An escaped character outside the basic plane is plain text."""
    assert parse(b'"\\ud83d\\ude00"') == "\U0001f600"


def test_an_object_keeps_its_values() -> None:
    """A document is parsed as it stands."""
    assert parse('{"a": [1, 2.5, null, "é"]}'.encode()) == {"a": [1, 2.5, None, "é"]}
