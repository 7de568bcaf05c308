"""A figure in the style of all pictures, that a notebook shows without more.

Needs the extra `tiger-mapper[plot]`; imported when something is drawn.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import RLock
from typing import Literal

from matplotlib import rc_context
from matplotlib.figure import Figure

from tiger.run.drawing.style import AMOUNTS, DPI, SMALL_POINTS, TEXT_POINTS, TITLE_POINTS, WIDTH_IN

Kind = Literal["svg", "png", "pdf"]
# What files say of themselves but for the date, so that the same picture is the same file.
UNDATED: dict[str, dict[str, str | None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}

# matplotlib has one set of settings for all threads: two that change and restore it at once leave it changed.
SETTINGS = RLock()
# What XML takes nowhere, not even escaped (XML 1.0, section 2.2), and names may hold.
CONTROLS = bytes({*range(32)} - {*b"\t\n\r"})
BLANKS = bytes.maketrans(CONTROLS, b" " * len(CONTROLS))


class Picture(Figure):
    """Be a figure that notebooks show, whether or not pyplot has been imported."""

    def _repr_png_(self) -> bytes:
        """Return the picture as a notebook shows it."""
        return render(self, "png")


def new_figure(height_in: float, width_in: float = WIDTH_IN) -> Picture:
    """Return an empty figure of some height and width in inches."""
    return Picture(figsize=(width_in, height_in), dpi=DPI, layout="constrained")


def render(figure: Figure, kind: Kind, words: Literal["path", "none"] = "path") -> bytes:
    """Return the file of a figure, the same bytes for the same picture; words in an svg are paths, or text as it is."""
    drawn = BytesIO()
    with in_style(words):
        figure.savefig(drawn, format=kind, metadata=UNDATED[kind])
    content = drawn.getvalue()
    return content.translate(BLANKS) if kind == "svg" else content


@contextmanager
def in_style(words: Literal["path", "none"] = "path") -> Iterator[None]:
    """Have matplotlib draw in the style of all pictures, one thread at a time.

    Names may hold any sign, `$` too, and names inside an svg are the same every time.
    """
    settings = rc_context(
        {
            "text.parse_math": False,
            "svg.hashsalt": "tiger",
            "svg.fonttype": words,
            "font.size": TEXT_POINTS,
            "axes.titlesize": TITLE_POINTS,
            "axes.titlelocation": "left",
            "axes.labelsize": TEXT_POINTS,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "xtick.labelsize": SMALL_POINTS,
            "ytick.labelsize": SMALL_POINTS,
            "legend.frameon": False,
            "legend.fontsize": SMALL_POINTS,
            "image.cmap": AMOUNTS,
        }
    )
    with SETTINGS, settings:
        yield
