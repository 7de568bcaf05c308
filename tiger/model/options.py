"""Options as the fields of dataclasses, each stated once with its default, its bounds and what it does.

Functions take the fields of such a dataclass as their arguments, and the REST service derives its schema from them.
"""

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Given = TypeVar("Given")
Answer = TypeVar("Answer")
Owner = TypeVar("Owner")
Narrow = TypeVar("Narrow")


def about(description: str, **bounds: float) -> dict[str, object]:
    """Return the metadata of an option: its description and bounds (ge, gt, le, lt, allow_inf_nan), as pydantic has it.

    They document the option; whoever uses it checks its value.
    """
    return {"description": description, **bounds}


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
