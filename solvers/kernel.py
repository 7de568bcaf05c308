"""How functions are compiled: on first use, into numba's cache, and without the interpreter's lock."""

import gc
import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from types import CodeType, FunctionType, ModuleType
from typing import TypeVar

import numba
from numba import njit, types
from numba.core import config, event
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

from tiger.solvers import compiler
from tiger.solvers.kernel_folders import REMEDY, KernelFile, KernelFolders, find_place, list_unwritable

MESSAGE = "compiling search kernels, 5 to 30 s"

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
                log.warning("%s; %s", MESSAGE, find_place().describe())
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
    """Keep a compiled function in a file, and count files of another version of tiger as missing.

    Numba looks whether the function's own file has changed. What it calls is compiled into it, though, so that this
    looks at the files of all of that as well, and at constants from elsewhere.
    """

    _impl_class = KernelFolders

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]  # numba has no annotations
        stamp, chosen = self._cache_file._source_stamp, self._impl.locator
        # As it is when it is imported: what runs later is what was read then.
        FILES.setdefault(function.__code__.co_filename, repr(stamp))
        folders = [locator.get_cache_path() for locator in (*list_unwritable(function, chosen), chosen)]
        self._cache_file = KernelFile(folders, self._impl.filename_base, stamp)
        self._is_stamped = False

    def load_overload(self, sig: object, target_context: object) -> object:
        """Return the code compiled for a signature, None if there is none."""
        self._stamp()
        return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]  # as above

    def save_overload(self, sig: object, data: object) -> None:
        """Keep what was compiled for a signature, or say why it cannot be kept; it is used nevertheless."""
        self._stamp()
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]  # as above
        except OSError as error:
            if find_place().folder and not LOSSES:
                logging.getLogger("tiger").error("search kernels are not kept: %s; %s", error, REMEDY)
            LOSSES.append(error)

    def _index_key(self, sig: tuple[types.Type, ...], codegen: object) -> tuple[object, ...]:
        """Return the key of a compiled function, with the names of fields, as code finds fields by their order."""
        key: tuple[object, ...] = super()._index_key(sig, codegen)  # type: ignore[no-untyped-call]  # as above
        return (*key, *map(name_fields, sig))

    def _stamp(self) -> None:
        """Have the file name all sources, once the kernel is called, as all modules are loaded by then."""
        if not self._is_stamped:
            self._cache_file._source_stamp = hash_sources(self._py_func)
            self._is_stamped = True


# Why compiled kernels could not be kept, in this process.
LOSSES: list[OSError] = []
# What numba tells the state of each file by, in some versions a hash of it and in others its date.
FILES: dict[str, str] = {}


def hash_sources(function: FunctionType) -> str:
    """Return a hash of the files of a function and of all that it calls, of the constants these name, and of HOW.

    Raises RuntimeError for a function that is in no file.
    """
    functions, parts = [function], {_stamp_file(known) for known in HOW}
    for known in functions:
        parts.add(f"{known.__module__} {_stamp_file(known)}")
        for name, value in find_globals(known):
            callee = value.py_func if isinstance(value, Dispatcher) else value
            if not isinstance(callee, FunctionType):
                parts.add(f"{known.__module__} {name} {_describe(callee)}")
            elif callee not in functions:
                functions.append(callee)
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()


def find_globals(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield names and values of what a function uses of its module, but for other modules."""
    codes = [function.__code__]
    for code in codes:
        codes += [part for part in code.co_consts if isinstance(part, CodeType)]
        found = ((name, function.__globals__[name]) for name in code.co_names if name in function.__globals__)
        yield from ((name, value) for name, value in found if not isinstance(value, ModuleType))


def _stamp_file(function: FunctionType) -> str:
    """Return the stamp of a function's file, the first one that was asked for."""
    path = function.__code__.co_filename
    if path not in FILES:
        FILES[path] = repr(KernelFolders(function).locator.get_source_stamp())  # type: ignore[no-untyped-call]  # as above
    return FILES[path]


def name_fields(kind: types.Type) -> tuple[object, ...]:
    """Return the names of a tuple's fields in their order, and those of each of them; nothing of other types.

    Those of records are a part of their types.
    """
    names = getattr(kind, "fields", ()) if isinstance(kind, types.BaseNamedTuple) else ()
    return names, *map(name_fields, getattr(kind, "types", ()))


def _describe(value: object) -> str:
    """Return a constant's value; of a class of tuples, the names of the fields."""
    return f"{value!r} {getattr(value, '_fields', '')}"


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
    """Return the function compiled, kept in numba's cache unless it is in no file."""
    if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set from the environment
        return function
    known = FIRST_KNOWN <= VERSION <= LAST_KNOWN
    options = options | ({"pipeline_class": compiler.Compiler} if known else {})
    compiled: Function = njit(**options)(function)  # type: ignore[call-overload]  # no stubs for options
    with suppress(RuntimeError):
        # What numba's own enable_caching does with its class.
        vars(compiled)["_cache"] = KernelCache(function)  # type: ignore[arg-type]  # a function, as njit has found
    if known:
        compiler.widen_arguments(compiled)  # type: ignore[arg-type]  # a dispatcher, which is called like the function
    return compiled


# Functions of the files that say how kernels are compiled.
HOW: tuple[FunctionType, ...] = (_compile, compiler.widen)  # type: ignore[assignment]  # mypy knows them by their calls alone
