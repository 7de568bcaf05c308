"""Docstrings of the API reference: formulas, which the code writes as Sphinx does, become those of Markdown."""

import re

from griffe import Extension, Object

INLINE = re.compile(r":math:`((?:[^`]|\n)*?)`")
BLOCK = re.compile(r"^\.\. math::[ \t]*(.*(?:\n(?:[ \t]+\S.*)?)*?)(?=\n\S|\Z)", re.MULTILINE)


class Formulas(Extension):
    """Rewrite the docstring of every object as it is read."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = markdown_of(obj.docstring.value)


def markdown_of(text: str) -> str:
    """Return a docstring with its formulas as Markdown."""
    text = BLOCK.sub(lambda match: "\n\\[\n" + " ".join(match[1].split()) + "\n\\]\n", text)
    return INLINE.sub(lambda match: "\\(" + " ".join(match[1].split()) + "\\)", text)
