"""Reports as notebooks show them: their pictures, a card, and a table of their stages.

What draws them lies above every report, and is reached by the public names of the package, when it is asked for.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tiger
from tiger.errors import InputError
from tiger.model.document import Document
from tiger.model.figure import Figure
from tiger.model.violation import Violation

if TYPE_CHECKING:
    from matplotlib import figure
    from pandas import DataFrame


class Answer(Document, ABC):
    """Be a report that can be drawn, tabulated, and shown by a notebook."""

    __slots__ = ()
    schema: str
    feasible: bool
    violations: tuple[Violation, ...]
    warnings: tuple[str, ...]

    @property
    @abstractmethod
    def headline(self) -> str:
        """Return one sentence on the outcome, beside what it is compared with."""

    @property
    @abstractmethod
    def rows(self) -> Sequence[Document]:
        """Return the rows of the report's table."""

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Return what it is compared by with answers to the same question, what was made good first."""
        return ()

    def plot(self, picture: str | None = None) -> "figure.Figure":
        """Return a picture of the report as a figure of matplotlib, as `tiger.draw` does."""
        return tiger.draw(self, picture)

    def to_frame(self) -> "DataFrame":
        """Return the rows of the report as a pandas DataFrame; raise InputError of `frame` where pandas is missing."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise InputError("frame", "expected pandas: pip install pandas") from None
        return DataFrame([row.to_dict() for row in self.rows])

    def _repr_html_(self) -> str:
        """Return the card of the report, as notebooks show it."""
        return tiger.card(self)
