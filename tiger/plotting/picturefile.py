"""Files of pictures: refused before the work where they cannot be drawn or written, and written after it."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tiger.errors import InputError
from tiger.model.answer import Answer
from tiger.model.wording import describe
from tiger.plotting.card import write_page
from tiger.plotting.pictures import draw, require_matplotlib
from tiger.run import outfile
from tiger.run.drawing.artists import FIELD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS: dict[str, Literal["svg", "png", "pdf"]] = {".svg": "svg", ".png": "png", ".pdf": "pdf"}
PAGE = ".html"


def check(path: Path | str) -> None:
    """Raise InputError of `plot` for an unknown ending, a missing matplotlib, and a file that cannot be written."""
    endings = (*KINDS, PAGE)
    if Path(path).suffix.lower() not in endings:
        raise InputError(FIELD, f"expected a file that ends in {', '.join(endings)}, got {describe(Path(path).name)}")
    require_matplotlib()
    outfile.check(str(path), FIELD)


def write(report: Answer, path: Path | str) -> None:
    """Write the first picture of a report by the ending of the path, or all of them as a page; raise InputError."""
    check(path)
    if Path(path).suffix.lower() == PAGE:
        outfile.write(str(path), FIELD, write_page(report))
    else:
        write_figure(draw(report), path)


def write_figure(figure: "Figure", path: Path | str) -> None:
    """Write a figure by the ending of the path, the same bytes for the same picture; raise InputError of `plot`."""
    from tiger.run.drawing.figure import render

    kind = KINDS[Path(path).suffix.lower()]
    outfile.write(str(path), FIELD, render(figure, kind))
