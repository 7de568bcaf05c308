"""Options as the fields of dataclasses, each stated once with its default, its bounds and what it does.

Functions take the fields of such a dataclass as their arguments; commands and schemas of the service are made of them.
"""

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from tiger.model.spelling import Spelling

Arguments = ParamSpec("Arguments")
Lists = ParamSpec("Lists")
Given = TypeVar("Given")
Answer = TypeVar("Answer")
Owner = TypeVar("Owner")
Narrow = TypeVar("Narrow")
GivenList = TypeVar("GivenList")
Each = TypeVar("Each", covariant=True)


class OneOrMany(Protocol[Arguments, Lists, Each]):
    """Stand for a function that answers one thing, or a list of them with a list of answers."""

    @overload
    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Each: ...

    @overload
    def __call__(self, *args: Lists.args, **kwargs: Lists.kwargs) -> list[Each]: ...


def about(description: str, spelling: Spelling | None = None, **bounds: float | str) -> dict[str, object]:
    """Return the metadata of an option: its description and bounds (ge, gt, le, lt, allow_inf_nan), as pydantic has it.

    `tiger.model.checking.check_values` checks them, and `most` that no schema states, and says what was `expected`
    where that does not follow from them. A command has the option where there is a spelling.
    """
    return {"description": description, **({} if spelling is None else {"spelling": spelling}), **bounds}


def narrow(kind: type[Narrow], source: object, **changes: object) -> Narrow:
    """Return the options of one kind alone out of a source that has them all, with some of them changed."""
    names = [field.name for field in fields(kind) if field.init and field.name not in changes]  # type: ignore[arg-type]
    return kind(**{name: getattr(source, name) for name in names}, **changes)


def from_fields(
    kind: Callable[Arguments, Given],
) -> Callable[[Callable[[Given], Answer]], Callable[Arguments, Answer]]:
    """Make a function of a dataclass one that takes the fields of that dataclass as its arguments."""

    def decorate(function: Callable[[Given], Answer]) -> Callable[Arguments, Answer]:
        signature = _signature(kind, function)

        @wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
            _check_names(function, signature, args, kwargs)
            return function(kind(*args, **kwargs))

        call.__dict__["__signature__"] = signature
        return call

    return decorate


def method_from_fields(
    kind: Callable[Arguments, Given],
) -> Callable[[Callable[[Owner, Given], Answer]], Callable[Concatenate[Owner, Arguments], Answer]]:
    """Make a method of a dataclass one that takes the fields of that dataclass as its arguments."""

    def decorate(method: Callable[[Owner, Given], Answer]) -> Callable[Concatenate[Owner, Arguments], Answer]:
        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        signature = _signature(kind, method)

        @wraps(method)
        def call(self: Owner, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
            _check_names(method, signature, args, kwargs)
            return method(self, kind(*args, **kwargs))

        call.__dict__["__signature__"] = signature.replace(parameters=[own, *signature.parameters.values()])
        return call

    return decorate


def list_from_fields(
    one: Callable[Arguments, Given], many: Callable[Lists, GivenList], each: Callable[[Given], Answer]
) -> Callable[[Callable[[GivenList], list[Answer]]], OneOrMany[Arguments, Lists, Answer]]:
    """Make a function of a dataclass whose first field is a list one that takes a single value there as well.

    Its arguments are the fields of the dataclass `many`, and with a single value those of `one`, which `each` answers.
    """

    def decorate(function: Callable[[GivenList], list[Answer]]) -> OneOrMany[Arguments, Lists, Answer]:
        single, several = _signature(one, each), _signature(many, function)
        name = next(iter(several.parameters))

        @wraps(function)
        def call(*args: object, **kwargs: object) -> Answer | list[Answer]:
            first = args[0] if args else kwargs.get(name)
            if isinstance(first, list | tuple):
                _check_names(function, several, args, kwargs)
                return function(many(*args, **kwargs))  # type: ignore[arg-type]  # names are checked, types where they are used
            _check_names(function, single, args, kwargs)
            return each(one(*args, **kwargs))  # type: ignore[arg-type]  # likewise

        call.__dict__["__signature__"] = _join(single, several)
        return cast("OneOrMany[Arguments, Lists, Answer]", call)

    return decorate


def _join(single: inspect.Signature, several: inspect.Signature) -> inspect.Signature:
    """Return the signature of a function that takes one thing or several, with what each argument may be."""
    parameters = []
    for name, parameter in several.parameters.items():
        own, other = single.parameters.get(name, parameter).annotation, parameter.annotation
        parameters.append(parameter.replace(annotation=other if own == other else f"{_text(own)} | {_text(other)}"))
    answer = _text(single.return_annotation)
    return several.replace(parameters=parameters, return_annotation=f"{answer} | list[{answer}]")


def _text(annotation: object) -> str:
    """Return an annotation as it is written."""
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _signature(kind: Callable[..., object], function: Callable[..., object]) -> inspect.Signature:
    """Return the signature of a function that takes the fields of a dataclass and answers as another function does."""
    return inspect.signature(kind).replace(return_annotation=inspect.signature(function).return_annotation)


def _check_names(
    function: Callable[..., object], signature: inspect.Signature, args: tuple[object, ...], kwargs: dict[str, object]
) -> None:
    """Raise TypeError, in the name of the function, unless the arguments are those of its signature."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{function.__name__}(): {error}") from None
