"""Reports as HTML: the card that a notebook shows, and the page of all pictures."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from math import isfinite
from typing import TYPE_CHECKING

from tiger.errors import InputError
from tiger.model.answer import Answer
from tiger.model.document import Document, members

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rows of the table of a card, characters of a cell, and violations and warnings: enough to see how it went.
ROWS, WIDTH, NOTES = 12, 60, 5
# Shapes of a panel that stay what they are, beyond which they take a megabyte, and the order up to which others do not.
SHAPES, CROWD = 1000, 2.5
# Digits of figures in a table.
DIGITS = 6
UNITS = {"_s": " in s", "_bytes": " in bytes"}
TABLE = "border-collapse:collapse;margin-top:8px"
CELL = "padding:2px 10px 2px 0;text-align:left;vertical-align:top"
STYLE = "font-family:sans-serif;font-size:13px;line-height:1.4;max-width:1100px"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def card(report: Answer) -> str:
    """Return a report as HTML: its headline, its first picture where matplotlib is there, and a table of its stages."""
    drawn = ""
    if find_spec("matplotlib"):
        from tiger.plotting.pictures import draw

        try:
            drawn = inline_svg(draw(report), report.headline)
        except InputError:
            # A service's report alone, or nothing feasible: the words say what there is.
            drawn = ""
    return f'<div style="{STYLE}">{_words(report)}{drawn}{_table(report.rows)}</div>'


def write_page(report: Answer) -> str:
    """Return a page of its own with the card and all pictures of a report; raise InputError of `plot`."""
    from tiger.plotting.pictures import list_artists, paint
    from tiger.run.drawing.artists import OVERVIEW

    artists = list_artists(report)
    shown = [
        f"<section><h2>{escape(name)}</h2>{inline_svg(paint(artist), name)}</section>"
        for name, artist in artists.items()
        if name != OVERVIEW
    ]
    title = escape(report.headline)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n</head>\n"
        f'<body style="{STYLE};margin:2em auto;padding:0 1em">\n<h1 style="font-size:18px">TIGER</h1>\n'
        f"{_words(report)}{_table(report.rows)}\n" + "\n".join(shown) + "\n</body>\n</html>\n"
    )


def inline_svg(figure: "Figure", name: str) -> str:
    """Return a figure as an svg element to stand in HTML, its words as text, and crowds of shapes as an image."""
    from tiger.run.drawing.figure import render

    for axes in figure.axes:
        if sum(len(shapes.get_paths()) for shapes in axes.collections) > SHAPES:
            axes.set_rasterization_zorder(CROWD)
    drawn = render(figure, "svg", "none").decode()
    head = f'<svg role="img" aria-label="{escape(name)}" style="max-width:100%;height:auto" '
    return drawn[drawn.index("<svg") :].replace("<svg ", head, 1)


def _words(report: Answer) -> str:
    """Return the headline, and below it what cannot be met and what there is to warn of."""
    notes = [*(violation.message for violation in report.violations), *report.warnings]
    items = "".join(f"<li>{escape(note)}</li>" for note in notes[:NOTES])
    more = f"<li>and {len(notes) - NOTES} more</li>" if len(notes) > NOTES else ""
    return f"<p><strong>{escape(report.headline)}</strong></p>" + (f"<ul>{items}{more}</ul>" if notes else "")


def _table(rows: Sequence[Document]) -> str:
    """Return rows as a table, a column for each of their fields; of many, the first and how many there are."""
    if not rows:
        return ""
    columns = {_title(name): field.name for name, field in members(type(rows[0]))}
    head = _line("th", columns)
    body = "".join(_line("td", (_cell(getattr(row, name)) for name in columns.values())) for row in rows[:ROWS])
    rest = f"<p>and {len(rows) - ROWS:,} more</p>" if len(rows) > ROWS else ""
    return f'<table style="{TABLE}"><thead>{head}</thead><tbody>{body}</tbody></table>{rest}'


def _line(kind: str, cells: Iterable[str]) -> str:
    """Return a row of a table."""
    written = (f'<{kind} style="{CELL}">{escape(cell)}</{kind}>' for cell in cells)
    return f"<tr>{''.join(written)}</tr>"


def _title(name: str) -> str:
    """Return the name of a field as the head of a column, with its unit."""
    unit = next((ending for ending in UNITS if name.endswith(ending)), "")
    return f"{name.removesuffix(unit)}{UNITS.get(unit, '')}".replace("_", " ")


def _cell(value: object) -> str:
    """Return the value of a field in a few words."""
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}" if isfinite(value) else "-"
    if isinstance(value, Document) and type(value).__str__ is object.__str__:
        value = value.to_dict()
    if isinstance(value, Mapping):
        plain = {name: item for name, item in value.items() if isinstance(item, str | int | float)}
        value = ", ".join(f"{name} {_cell(item)}" for name, item in plain.items())
    if isinstance(value, tuple):
        value = ", ".join(map(_cell, value[:WIDTH])) + ("" if len(value) <= WIDTH else " ..")
    text = "-" if value is None else str(value)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} .."
