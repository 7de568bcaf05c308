"""What the build of the site does beyond Markdown: formulas as MathML, and the picture of the rooms."""

import html
import re

from latex2mathml.converter import convert

from benchmarks import rooms

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_pre_build(**_: object) -> None:
    """Draw the architecture again, so that the site shows the imports of the code that it is built from."""
    rooms.draw()


def on_page_content(content: str, **_: object) -> str:
    """Turn formulas into MathML, which browsers draw without a script from elsewhere."""
    return FORMULA.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    """Return one formula as MathML."""
    latex = html.unescape(match[3]).strip()
    return convert(latex, display="block" if match[2] == "[" else "inline")
