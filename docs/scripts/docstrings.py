"""Docstrings of the API reference: formulas, which the code writes as Sphinx does, become those of Markdown."""

import re

from griffe import Extension, Object

# A formula longer than this keeps the lines of its source that begin with a sign.
LONG = 100
SIGNS = ("+", "-", "=", r"\;", r"\qquad", r"\le", r"\ge")
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
    text = BLOCK.sub(lambda match: f"\n\\[\n{_formula(match[1])}\n\\]\n", text)
    return INLINE.sub(lambda match: "\\(" + " ".join(match[1].split()) + "\\)", text)


def _formula(latex: str) -> str:
    """Return a formula, in lines where it is long."""
    lines = [" ".join(line.split()) for line in latex.strip().splitlines()]
    if sum(map(len, lines)) <= LONG or len(lines) == 1:
        return " ".join(lines)
    rows = lines[:1]
    for line in lines[1:]:
        rows += [line] if line.startswith(SIGNS) else []
        rows[-1] += "" if line.startswith(SIGNS) else f" {line}"
    broken = r" \\ \quad ".join(rows)
    return rf"\begin{{array}}{{l}} {broken} \end{{array}}"
