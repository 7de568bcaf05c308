"""How functions are compiled: on first use, into numba's cache, and without the interpreter's lock."""

from collections.abc import Callable
from typing import TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Return a compiled function that creates no arrays; `.py_func` is the plain Python one.

    Without numba's reference counts, which touch every array of an argument on every call, a call costs nothing.
    """
    return _compiled(function, {"nogil": True, "error_model": "numpy", "_nrt": False})


def allocating_kernel(function: Function) -> Function:
    """Return a compiled function that may create arrays."""
    return _compiled(function, {"nogil": True, "error_model": "numpy"})


def _compiled(function: Function, options: dict[str, object]) -> Function:
    """Return the function compiled, kept in numba's cache where there is a directory that can be written to."""
    try:
        kept: Function = njit(cache=True, **options)(function)  # type: ignore[call-overload]
    except RuntimeError:
        fleeting: Function = njit(**options)(function)  # type: ignore[call-overload]
        return fleeting
    return kept
