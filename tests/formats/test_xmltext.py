"""XML as text."""

import pytest

from tiger.errors import InputError
from tiger.formats.xmltext import DEPTH_LIMIT, ELEMENT_LIMIT, Element, read_elements


def test_elements_come_in_order_with_the_one_around_them():
    """Text between them plays no part, and a reference to definitions is not followed."""
    text = '<!DOCTYPE a SYSTEM "file:///etc/passwd">\n<a x="1">words<b/>\n<c y="&lt;"/></a>'
    found = [Element("a", {"x": "1"}, 2, -1), Element("b", {}, 2, 0), Element("c", {"y": "<"}, 3, 0)]
    assert read_elements(text, "topology") == found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("words", "line 1: expected XML, got a fault: syntax error"),
        ("<a>\n</b>", "line 2: expected XML, got a fault: mismatched tag"),
        ("<a>\ud800</a>", "line 1: expected XML, got a fault: not well-formed"),
        ("<a/>\n<a/>", "line 2: expected XML, got a fault: junk after document element"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "line 1: expected XML without declarations of entities"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "/etc/passwd">]><a>&x;</a>', "line 1: expected XML without declarations"),
        ('<!DOCTYPE a SYSTEM "a.dtd">\n<a>&x;</a>', "line 2: expected no entities, got 'x'"),
        ("<a>" * (DEPTH_LIMIT + 1), "line 1: expected at most 262144 elements, 64 inside each other, got more"),
    ],
)
def test_what_is_no_plain_document_is_refused(text, reason):
    """Where it stands, before it grows."""
    with pytest.raises(InputError, match=f"^topology: {reason}"):
        read_elements(text, "topology")


def test_documents_of_too_many_elements_are_refused():
    """A limit of nine, in place of the usual one of a quarter of a million."""
    text = "<a>" + "<b/>" * 8
    assert ELEMENT_LIMIT == 1 << 18
    with pytest.raises(
        InputError, match=r"^topology: line 1: expected at most 9 elements, 64 inside each other, got more"
    ):
        read_elements(f"{text}<b/></a>", "topology", most=9)
    assert len(read_elements(f"{text}</a>", "topology", most=9)) == 9
