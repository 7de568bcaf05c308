"""How functions are compiled: on first use, into numba's cache, and without the interpreter's lock."""

import gc
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import TypeVar

import numba
from numba import njit
from numba.core import config, event
from numba.core.caching import FunctionCache

from tiger.solvers.compiler import Compiler, widen_arguments

MESSAGE = "compiling search kernels, 5 to 30 s; they are kept, so this happens once after installation"

VERSION = tuple(int(part) for part in numba.__version__.split(".")[:2])
# The versions of numba whose internals `tiger.solvers.compiler` was tested with. Any other compiles kernels in its own
# way, which takes longer.
FIRST_KNOWN, LAST_KNOWN = (0, 62), (0, 68)

Function = TypeVar("Function", bound=Callable[..., object])


class Announcement(event.Listener):
    """Say that kernels are being compiled, for they are missing from the cache: once why, then one line a module."""

    def __init__(self) -> None:
        self._depth = 0
        self._named: set[str] = set()

    def on_start(self, event: event.Event) -> None:
        """Name the module of a kernel that is compiled for Python; those that it calls are part of it."""
        module = str(event.data["dispatcher"].py_func.__module__).removeprefix("tiger.")
        if not self._depth and module not in self._named:
            log = logging.getLogger("tiger")
            if not self._named:
                log.warning(MESSAGE)
            log.warning("compiling: %s", module)
            self._named.add(module)
        self._depth += 1

    def on_end(self, event: object) -> None:
        """Count the end of a compilation."""
        self._depth -= 1


class CollectorPause(event.Listener):
    """Keep the collector of garbage from looking through a compiler's objects while it makes them.

    It finds next to nothing there, and takes a tenth of the compilation.
    """

    def __init__(self) -> None:
        self._depth, self._was_on = 0, False

    def on_start(self, event: object) -> None:
        """Switch the collector off when the outermost compilation begins."""
        if not self._depth:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: object) -> None:
        """Switch it on again, if it was, when that ends."""
        self._depth -= 1
        if not self._depth and self._was_on:
            gc.enable()


event.register("numba:compile", Announcement())
event.register("numba:compile", CollectorPause())


class UncompiledError(Exception):
    """Say that a kernel is missing from the cache."""


class CompilationRejection(event.Listener):
    """Reject every compilation."""

    def on_start(self, event: object) -> None:
        """Raise UncompiledError before a compilation begins."""
        raise UncompiledError

    def on_end(self, event: object) -> None:
        """Do nothing when a compilation ends."""


def refuse_to_compile() -> AbstractContextManager[object]:
    """Return a context in which a kernel is loaded from the cache, or raises UncompiledError."""
    rejecting: AbstractContextManager[object] = event.install_listener("numba:compile", CompilationRejection())
    return rejecting


class KernelCache(FunctionCache):
    """Keep a compiled function in a file, and count files of another version of tiger as missing."""

    def load_overload(self, sig: object, target_context: object) -> object:
        """Return what was compiled for a signature, None if nothing was."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError):
            # The file names types of arguments that have since moved, and is read before its date is looked at.
            self.flush()  # type: ignore[no-untyped-call]
            return None


def kernel(function: Function) -> Function:
    """Return a compiled function that creates no arrays; `.py_func` is the plain Python one.

    Without numba's reference counts, which touch every array of an argument on every call, a call costs nothing.
    """
    return _compile(function, {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True})


def inner_kernel(function: Function) -> Function:
    """Return a compiled function that creates no arrays and that compiled functions alone call.

    It compiles in half the time, without the way in from Python.
    """
    options = {"nogil": True, "error_model": "numpy", "_nrt": False}
    return _compile(function, options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True})


def inner_allocating_kernel(function: Function) -> Function:
    """Return a compiled function that may create arrays and that compiled functions alone call."""
    options = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _compile(function, options)


def allocating_kernel(function: Function) -> Function:
    """Return a compiled function that may create arrays."""
    return _compile(function, {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True})


def _compile(function: Function, options: dict[str, object]) -> Function:
    """Return the function compiled, kept in numba's cache where there is a directory that can be written to."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set from the environment
        return function
    known = FIRST_KNOWN <= VERSION <= LAST_KNOWN
    options = options | ({"pipeline_class": Compiler} if known else {})
    compiled: Function = njit(**options)(function)  # type: ignore[call-overload]  # no stubs for options
    with suppress(RuntimeError):
        # What numba's own enable_caching does with its class.
        vars(compiled)["_cache"] = KernelCache(function)  # type: ignore[no-untyped-call]
    if known:
        widen_arguments(compiled)  # type: ignore[arg-type]  # a dispatcher, which is called like the function
    return compiled
