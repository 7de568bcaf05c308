"""The compiled code that solves need, loaded from numba's cache; where some is missing, another process compiles it."""

import subprocess
import sys

from tiger.api.middleware import log
from tiger.api.pool.parent import die_with_parent
from tiger.solvers.kernel import UncompiledError, refuse_to_compile
from tiger.solvers.kernel_folders import find_place
from tiger.uses import list_uses

COMPILE = "from tiger.api.workers import kernels; kernels.compile_all()"


def load() -> None:
    """Load all kernels into this process.

    Compilers leave some 500 MiB behind in a process that lasts, and in all that are forked from it. Where a kernel is
    missing, a process of its own compiles them all into the cache, and ends. What it cannot write there is compiled
    here after all, which all that is forked from this process shares; where nothing can be written, all of it, once.
    """
    try:
        with refuse_to_compile():
            _warm()
    except UncompiledError:
        if find_place().folder:
            subprocess.run([sys.executable, "-c", COMPILE], check=False)  # noqa: S603 (this very program)
        _warm()


def compile_all() -> None:
    """Compile all kernels into the cache, in a process that was started for that and ends with its parent."""
    die_with_parent()
    log.configure()
    _warm()


def _warm() -> None:
    """Run the stages of uses once, which compiles their kernels or loads them."""
    for use in list_uses():
        if use.kernels is not None and use.kernels.ahead:
            for _, run in use.kernels.stages.load():
                run()
