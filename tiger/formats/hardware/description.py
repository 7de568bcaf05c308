"""Descriptions of hardware, recognised by what they begin with."""

from collections.abc import Callable, Mapping, Sequence

from tiger.formats.hardware import lstopo
from tiger.formats.hardware.levels import Hardware
from tiger.formats.xmltext import Element, read_elements
from tiger.model.wording import describe

FIELD = "topology"


def read_xml(text: str) -> Hardware:
    """Return the hardware that XML describes, by the tag of its root; raise InputError of `topology` with the line."""
    elements = read_elements(text, FIELD)
    reader = _ROOTS.get(elements[0].tag)
    if reader is None:
        known = ", ".join(f"<{tag}>" for tag in _ROOTS)
        raise elements[0].error(FIELD, f"expected {known} around all, got {describe(elements[0].tag)}")
    return reader(elements)


_ROOTS: Mapping[str, Callable[[Sequence[Element]], Hardware]] = {"topology": lstopo.read_machine}
