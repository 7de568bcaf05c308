"""What draws the pictures of a report, by their names."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIELD = "plot"
# A first picture with panels that are pictures of their own.
OVERVIEW = "overview"
Artists = Mapping[str, Callable[[], "Figure"]]
