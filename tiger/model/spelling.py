"""How the command line spells an option, stated beside the field that is the option."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

# The groups of options in the help of a command, in their order.
Panel = Literal["Problem", "Hardware", "Search", "Output", "Where it runs"]
# What shells complete a value by, beside files.
Completion = Literal["tasks", "models", "topologies", "solvers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """Say how a command spells an option, where that does not follow from the name and the type of its field.

    `help` is its text, that of other fronts without it, in the group `panel`; `name` is what the command calls it and
    `flags` how it is written. One text becomes the value by `parse`, those of a repeated option by `gather`. Shells
    complete it by `complete`. An `argument` has no flag, `variable` is one of the environment, an option that is
    `ranged` shows its bounds, and one that is `required` has to be given although its field has a default.
    """

    help: str | None = None
    panel: Panel = "Problem"
    name: str | None = None
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    parse: Callable[[str], object] | None = None
    gather: Callable[[Sequence[str]], object] | None = None
    complete: Completion | None = None
    argument: bool = False
    variable: str | None = None
    ranged: bool = False
    required: bool = False


def spelled(spelling: Spelling) -> dict[str, object]:
    """Return the metadata of an option whose description is that of the command line alone."""
    return {"spelling": spelling}
