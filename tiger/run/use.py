"""What a use states of itself: its options, how they are answered, and what is said of the answer.

A use is something that a person asks TIGER for. Each room of uses states its own in its `use.py`, `tiger.uses` lists
them, and the fronts go by that list. What computes is loaded when it is needed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Generic, Never, TypeVar

from tiger.errors import InputError
from tiger.model.spelling import Spelling
from tiger.run.drawing.artists import Artists

Thing = TypeVar("Thing")
Answered = TypeVar("Answered")
Reported = TypeVar("Reported", contravariant=True)
# A stage of a search by its name, with what loads its kernels into a process.
Stage = tuple[str, Callable[[], None]]
# Returns the name of another command, and what it is given; None where a command does the work itself. In come what was
# given, by the names that the command has, and the names of what was stated and is no default.
HandOver = Callable[[Mapping[str, object], frozenset[str]], tuple[str, Mapping[str, object]] | None]


@dataclass(frozen=True, slots=True)
class Late(Generic[Thing]):
    """Name a thing of a module, which is imported when it is needed."""

    module: str
    name: str

    def load(self) -> Thing:
        """Import the module and return the thing."""
        thing: Thing = getattr(import_module(self.module), self.name)
        return thing


@dataclass(frozen=True, kw_only=True)
class Delivery(Generic[Reported]):
    """Hold the options that a command alone has, and do with a report what they say; here there are none."""

    def check(self, asked: Mapping[str, object], json_file: str | None) -> None:
        """Raise InputError, before the work, for what cannot be delivered of what is asked."""

    def add_options(self, asked: Mapping[str, object]) -> Mapping[str, object]:  # noqa: ARG002 (of those below)
        """Return options of the use that follow from those here, to be added to what is asked."""
        return {}

    def write(self, report: Reported) -> None:
        """Write files."""

    def replace_summary(self, report: Reported) -> str | None:  # noqa: ARG002 (of those below)
        """Return the text printed instead of the summary, which goes to standard error then; None for nothing."""
        return None

    def accept(self, report: Reported) -> bool:  # noqa: ARG002 (of those below)
        """Return whether a feasible report is what was to be delivered; the exit code says so."""
        return True

    def advise(self, report: Reported) -> str:  # noqa: ARG002 (of those below)
        """Return the lines added on standard error."""
        return ""


def check_printed(emit: str | None, json_file: str | None, field: str = "emit") -> None:
    """Raise InputError of a field where both what is emitted and the report would be printed."""
    if emit is not None and json_file == "-":
        raise InputError(field, "expected a file for --json beside it, as both would go to standard output")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Command:
    """Say how the command line asks for a use: by the options of a `call`, but for those that it `omits`.

    `help` says what it does, its first sentence in the list of commands; `examples` run as they are in a clone.
    `spellings` stand in place of those of fields, and `delivery` adds options. Where Python calls hardware `topology`,
    the command calls it `hardware`. `other` may hand what is given over to another command (`HandOver`).
    """

    name: str
    call: type
    help: str
    examples: tuple[str, ...]
    omits: frozenset[str] = frozenset()
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    delivery: type[Delivery[Never]] = Delivery
    hardware: str = "topology"
    other: Late[HandOver] | None = None


REFUSED = "expected it left out, as the service decides that itself"


def solver_name(solver: object) -> str:
    """Return the name of a solver, which is what a service takes; raise InputError of `solver` for an object."""
    if not isinstance(solver, str):
        raise InputError("solver", f"expected a name, as a service takes no object, got {type(solver).__name__}")
    return solver


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """Name the compiled code of a use: by stages, each with what loads it or compiles it.

    `tiger warm` compiles it for a `command`; a service has it `ahead` of the first request.
    """

    command: str
    stages: Late[tuple[Stage, ...]]
    ahead: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class RemoteCall(Generic[Answered]):
    """Hold what a service is asked, a document whose fields that are None are left out.

    `complete` adds to the report that answers it what no JSON carries.
    """

    document: Mapping[str, object]
    complete: Callable[[Answered], Answered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """Say where a service answers a use, by the path of a route, and how the arguments of a call are stated to it."""

    path: str
    state: Late[Callable[..., RemoteCall[object]]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Use:
    """State a use: the function that answers the fields of a `call` with a `report`, and the commands that ask it.

    The first command has the name of the use. `schema` is that of reports as JSON. A report is said in short by
    `summary` and at length by `explanation`, and drawn by `pictures`. A service answers it where there is a `remote`.
    """

    commands: tuple[Command, ...]
    answer: Late[Callable[..., object]]
    report: Late[type]
    schema: str
    summary: Late[Callable[..., str]]
    explanation: Late[Callable[..., object]]
    pictures: Late[Callable[..., Artists]]
    kernels: Kernels | None = None
    remote: Remote | None = None

    @property
    def name(self) -> str:
        """Return the name of the use, of its function and of its first command."""
        return self.commands[0].name

    @property
    def call(self) -> type:
        """Return the dataclass of its options."""
        return self.commands[0].call
