"""How functions are compiled: on first use, into numba's cache, and without the interpreter's lock."""

from collections.abc import Callable
from typing import TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Return a compiled function that creates no arrays; `.py_func` is the plain Python one.

    Without numba's reference counts, which touch every array of an argument on every call, a call costs nothing.
    """
    compiled: Function = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)(function)  # type: ignore[call-overload]
    return compiled
