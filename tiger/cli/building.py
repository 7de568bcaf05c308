"""Functions of commands, made of the fields of the dataclasses that hold their options."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from types import NoneType
from typing import Annotated, Literal, Union, cast, get_origin

import typer

from tiger.cli import completion
from tiger.model.checking import members
from tiger.model.spelling import Spelling


@dataclass(frozen=True, slots=True)
class Option:
    """Hold an option of a command: the field that it is, how it is spelled, and the dataclass within which it is."""

    field: "Field[object]"
    spelling: Spelling
    inside: str | None = None

    @property
    def name(self) -> str:
        """Return what the command calls it."""
        return self.spelling.name or self.field.name

    @property
    def required(self) -> bool:
        """Return whether it must be given."""
        open_ended = self.field.default is MISSING and self.field.default_factory is MISSING
        return self.spelling.required or open_ended

    @property
    def default(self) -> object:
        """Return the default, None where that is no text or number that a command shows."""
        return self.field.default if isinstance(self.field.default, str | int | float) else None

    @property
    def annotation(self) -> object:
        """Return its type on the command line, with what typer is to know of it."""
        kind: object = list[str] if self.spelling.gather else self._kind()
        if not self.required and self.default is None:
            kind = Union[kind, None]  # noqa: UP007 (of types that are known when it runs)
        return Annotated[kind, self._info()]

    def _kind(self) -> object:
        """Return the type of one value: that of the field where a text is turned into it by its type, else a text."""
        kinds = [kind for kind in members(self.field.type) if kind is not NoneType]
        plain = len(kinds) == 1 and (kinds[0] in (int, float, bool) or get_origin(kinds[0]) is Literal)
        return kinds[0] if plain and self.spelling.parse is None else str

    def _info(self) -> object:
        """Return what typer is to know of it."""
        spelling, bounds = self.spelling, self.field.metadata
        text = spelling.help or bounds["description"]
        complete = None if spelling.complete is None else completion.COMPLETE[spelling.complete]
        if spelling.argument:
            return typer.Argument(metavar=spelling.metavar, help=text, show_default=False, autocompletion=complete)
        return typer.Option(
            *(spelling.flags or (f"--{self.name.replace('_', '-')}",)),
            metavar=spelling.metavar,
            help=text,
            show_default=not self.required,
            autocompletion=complete,
            envvar=spelling.variable,
            min=bounds["ge"] if spelling.ranged else None,
            max=bounds["le"] if spelling.ranged else None,
            rich_help_panel=spelling.panel,
        )

    def read(self, given: object) -> object:
        """Return the value of what was given; raise InputError."""
        if self.spelling.gather is not None:
            return self.spelling.gather(cast(Sequence[str], given))
        return given if self.spelling.parse is None else self.spelling.parse(cast(str, given))


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Name a dataclass of options, those that a command leaves out, and those that it spells otherwise."""

    kind: type
    omits: frozenset[str] = frozenset()
    spellings: Mapping[str, Spelling] = field(default_factory=dict)

    def options(self) -> Iterator[Option]:
        """Yield the options, with those of a dataclass that is one of the values."""
        for each in fields(self.kind):
            spelling = self.spellings.get(each.name, each.metadata.get("spelling"))
            if each.name in self.omits:
                continue
            if spelling is not None:
                yield Option(each, spelling)
            elif (inner := find_dataclass(each.type)) is not None:
                rest = Group(kind=inner, omits=self.omits, spellings=self.spellings)
                yield from (Option(option.field, option.spelling, each.name) for option in rest.options())

    def read(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return the values by the names of the fields, without those that were left open; raise InputError."""
        values: dict[str, object] = {}
        inner: dict[str, dict[str, object]] = {}
        for option in self.options():
            within = values if option.inside is None else inner.setdefault(option.inside, {})
            stated = given.get(option.name)
            if stated is not None and stated != []:
                within[option.field.name] = option.read(stated)
        kinds = {each.name: find_dataclass(each.type) for each in fields(self.kind)}
        return values | {name: cast(type, kinds[name])(**stated) for name, stated in inner.items()}

    def make(self, given: Mapping[str, object]) -> object:
        """Return the dataclass of the values; raise InputError."""
        return self.kind(**self.read(given))


def find_dataclass(annotation: object) -> type | None:
    """Return the dataclass with options of its own that an annotation allows, if there is one."""
    kinds = (kind for kind in members(annotation) if isinstance(kind, type) and is_dataclass(kind))
    return next((kind for kind in kinds if any("spelling" in each.metadata for each in fields(kind))), None)


def build_function(
    name: str, text: str, groups: Sequence[Group], run: Callable[[typer.Context, dict[str, object]], int]
) -> Callable[..., int]:
    """Return the function of a command, whose parameters are the options of some groups, for typer to read."""

    def call(**given: object) -> int:
        context = cast(typer.Context, given.pop("command_context"))
        return run(context, given)

    options = {option.name: option for group in groups for option in group.options()}
    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("command_context", kind, annotation=typer.Context)]
    parameters += [
        inspect.Parameter(
            option.name,
            kind,
            default=inspect.Parameter.empty if option.required else option.default,
            annotation=option.annotation,
        )
        for option in sorted(options.values(), key=lambda option: not option.required)
    ]
    call.__name__, call.__doc__ = name, inspect.cleandoc(text)
    call.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": int}
    call.__dict__["__signature__"] = inspect.Signature(parameters, return_annotation=int)
    return call
