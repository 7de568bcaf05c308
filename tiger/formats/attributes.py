"""Attributes of nodes and edges: which ones mean something, and names that look like a slip of the pen."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

TASK, TRAFFIC = ("work", "memory"), ("weight",)
HYPEREDGE = ("tasks", "volume")
NODE, LINK = ("slots", "cost", "memory"), ("weight", "bandwidth")
IDS = {"id", "source", "target"}
# difflib's ratio: `wieght` has 0.83 with `weight`, `slot` 0.89 with `slots`, `mem` 0.67 with `memory`.
ALIKE = 0.8


def find_misspelt(where: str, records: Iterable[Mapping[str, object]], known: tuple[str, ...]) -> tuple[str, ...]:
    """Return a remark for each attribute that is not known, but nearly, on records that lack the known one.

    Other attributes, such as positions or colours, are anyone's own.
    """
    records = list(records)
    strange = {name for record in records for name in record if isinstance(name, str)}.difference(known, IDS)
    remarks = []
    for name in sorted(strange):
        meant = get_close_matches(name, known, 1, ALIKE)
        count = sum(name in record and meant[0] not in record for record in records) if meant else 0
        if count:
            remarks.append(
                f"{where}: attribute {name!r} on {count} of them plays no part, was {meant[0]!r} meant? "
                f"Known are {', '.join(known)}"
            )
    return tuple(remarks)
