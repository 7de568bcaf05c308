"""The API reference: formulas, which the code writes as Sphinx does, become those of Markdown, and signatures whole.

Functions that take the fields of a dataclass as their arguments are shown with these.
"""

import inspect
import re
from importlib import import_module
from operator import attrgetter

from griffe import Extension, Function, Object, Parameter, ParameterKind, Parameters

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


class Signatures(Extension):
    """Replace the parameters of every function that is made by `tiger.model.options.from_fields`."""

    def on_function(self, *, func: Function, **_: object) -> None:
        """Replace the parameters by those that `help` shows."""
        if any("from_fields(" in str(decorator.value) for decorator in func.decorators):
            module = import_module(func.module.path)
            made = attrgetter(func.path.removeprefix(f"{func.module.path}."))(module)
            func.parameters = Parameters(*map(_parameter, inspect.signature(made).parameters.values()))


def _parameter(found: inspect.Parameter) -> Parameter:
    """Return a parameter as griffe has it."""
    has = inspect.Parameter.empty
    return Parameter(
        found.name,
        annotation=None if found.annotation is has else _text(found.annotation),
        kind=ParameterKind[found.kind.name.lower()],
        default=None if found.default is has else repr(found.default),
    )


def _text(annotation: object) -> str:
    """Return an annotation without the modules of its names."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


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
