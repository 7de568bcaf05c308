"""The pictures that a report has, by name.

Needs the extra `tiger-mapper[plot]`.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tiger.errors import InputError
from tiger.model.answer import Answer
from tiger.run.drawing.artists import FIELD, Artists
from tiger.uses import list_uses

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(report: Answer, picture: str | None = None) -> "Figure":
    """Draw a picture of a report, by default its first, and return the figure of matplotlib.

    Mappings have `mapping`, `matrix`, `hops`, `links`, `convergence` and, of a QUBO, `tuning`; circuits `layout`,
    `swaps` and `convergence`; placements `overview`, whose parts are `gantt`, `loads` and `memory`, `traffic` and
    `convergence`; plans `plans`, and the pictures of the best placement; experts `transitions`, `loads` and
    `convergence`; rebalanced runs `loads`.
    Raises InputError of `plot` for a picture that the report does not have, for a report of nothing possible, for one
    that a service has sent without its problem at hand, and where matplotlib is missing.
    """
    artists = list_artists(report)
    if picture is not None and picture not in artists:
        raise InputError(FIELD, f"expected one of {', '.join(artists)}, got {picture!r}")
    return paint(artists[picture or next(iter(artists))])


def paint(artist: Callable[[], "Figure"]) -> "Figure":
    """Return the figure of an artist, in the style of all pictures."""
    from tiger.run.drawing.figure import in_style

    with in_style():
        return artist()


def list_artists(report: Answer) -> Artists:
    """Return what draws each picture of a report, by name.

    Raises InputError of `plot` where there are none.
    """
    require_matplotlib()
    use = next(use for use in list_uses() if use.schema == report.schema)
    artists = use.pictures.load()(report)
    if not artists:
        raise InputError(FIELD, "expected a report of something that is possible, got one without it")
    return artists


def require_matplotlib() -> None:
    """Raise InputError of `plot` where matplotlib is missing."""
    if not find_spec("matplotlib"):
        raise InputError(FIELD, "expected matplotlib: pip install 'tiger-mapper[plot]'")
