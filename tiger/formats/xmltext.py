"""XML as text, without what a document type may hide: no entities are declared, and nothing else is opened."""

from typing import NamedTuple, NoReturn
from xml.parsers import expat

from tiger.errors import InputError
from tiger.model.wording import describe

# A machine of 2,048 cores has some 40,000 elements.
ELEMENT_LIMIT = 1 << 18
# Deeper than what describes machines, and shallow enough to walk up from every element.
DEPTH_LIMIT = 64


class Element(NamedTuple):
    """Hold an element: its tag, attributes, line, and the position of the one around it, -1 for the root."""

    tag: str
    values: dict[str, str]
    line: int
    parent: int

    def error(self, field: str, reason: str) -> InputError:
        """Return an error at this element."""
        return InputError(field, f"line {self.line}: {reason}")


def read_elements(text: str, field: str, most: int = ELEMENT_LIMIT) -> list[Element]:
    """Return the elements of an XML document in its order, without the text between them.

    Raises InputError of `field` with the line for what is no XML, declares an entity, or is too large or too deep. A
    reference to a file of definitions (DTD) is passed over.
    """
    parser, elements, path = expat.ParserCreate("utf-8"), list[Element](), list[int]()

    def fail(reason: str) -> NoReturn:
        raise InputError(field, f"line {parser.CurrentLineNumber}: {reason}")

    def begin(tag: str, values: dict[str, str]) -> None:
        if len(elements) >= most or len(path) >= DEPTH_LIMIT:
            fail(f"expected at most {most} elements, {DEPTH_LIMIT} inside each other, got more")
        elements.append(Element(tag, values, parser.CurrentLineNumber, path[-1] if path else -1))
        path.append(len(elements) - 1)

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _tag: path.pop()
    # Entities can grow without bound or name files.
    parser.EntityDeclHandler = lambda *_: fail("expected XML without declarations of entities, got one")
    parser.SkippedEntityHandler = lambda name, _: fail(f"expected no entities, got {describe(name)}")
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise InputError(field, f"line {error.lineno}: expected XML, got a fault: {reason}") from None
    return elements
