"""How the command line spells an option, stated beside the field that is the option."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, ParamSpec, cast

Arguments = ParamSpec("Arguments")
# The groups of options in the help of a command, in their order.
Panel = Literal["Problem", "Hardware", "Search", "Output", "Where it runs"]
# What shells complete a value by, beside files.
Completion = Literal["tasks", "models", "topologies", "solvers"]


@dataclass(frozen=True, slots=True)
class Spelling:
    """Say how a command spells an option, where that does not follow from the name and the type of its field.

    `help` is its text, that of other fronts without it, in the group `panel`; `name` is what the command calls it and
    `flags` how it is written. One text becomes the value by `parse`, those of a repeated option by `gather`. Shells
    complete it by `complete`. An `argument` has no flag, `variable` is one of the environment, an option that is
    `ranged` shows its bounds, and one that is `required` has to be given although its field has a default.
    """

    help: str | None = None
    _: KW_ONLY
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


def _as_metadata(make: Callable[Arguments, Spelling]) -> Callable[Arguments, dict[str, object]]:
    """Return a function that makes the metadata of a field out of the arguments of a spelling."""

    def state(*args: Arguments.args, **kwargs: Arguments.kwargs) -> dict[str, object]:
        return {"spelling": make(*args, **kwargs)}

    return state


# The metadata of an option whose text is that of the command line alone.
spelled = _as_metadata(Spelling)


def change_help(option: Mapping[str, object], text: str) -> dict[str, object]:
    """Return the metadata of an option with another text of help."""
    return {**option, "spelling": replace(cast(Spelling, option["spelling"]), help=text)}
