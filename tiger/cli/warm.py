"""Compile the kernels of commands into numba's cache."""

import logging
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tiger.errors import InputError
from tiger.run.use import Stage
from tiger.solvers.kernel import LOSSES, UncompiledError, refuse_to_compile
from tiger.solvers.kernel_folders import find_place
from tiger.uses import list_uses

KERNELS = [use.kernels for use in list_uses() if use.kernels is not None]
COMMANDS = tuple(dict.fromkeys(kernels.command for kernels in KERNELS))
# What numba reads, and is wrong where kernels cannot be kept.
VARIABLE = "NUMBA_CACHE_DIR"


def warm_all(commands: Iterable[str], compiled: Callable[[str, int, int], None]) -> None:
    """Compile what commands need, in as many processes as there are cores.

    `compiled` is called with every stage whose kernels are there, how many are, and of how many. A compilation locks
    its process, so that threads would not help. Raises InputError where kernels are missing and cannot be kept.
    """
    stages = stages_of(set(commands))
    place, losses = find_place(), set[str]()
    if not place.lasts and list_missing(stages):
        raise InputError(
            VARIABLE, f"expected a folder that can be written to, as none can of {place.name_unwritable()}"
        )
    workers = min(len(os.sched_getaffinity(0)), len(stages))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_name_no_modules) as pool:
        names = {pool.submit(_compile, load): name for name, load in stages}
        for count, future in enumerate(as_completed(names), 1):
            losses.update(future.result())
            compiled(names[future], count, len(names))
    if losses:
        raise InputError(VARIABLE, f"expected a folder that has room for kernels, got {'; '.join(sorted(losses)[:1])}")


def _compile(load: Callable[[], None]) -> list[str]:
    """Load a stage in a process of the pool, and return why this process could not keep kernels that it compiled."""
    load()
    return [str(loss) for loss in LOSSES]


def list_missing(stages: Iterable[Stage]) -> list[str]:
    """Return the stages some of whose kernels are compiled nowhere; none is compiled for that."""
    logger, missing = logging.getLogger("tiger"), []
    level = logger.level
    # It would name every module that is not compiled.
    logger.setLevel(logging.ERROR)
    for name, load in stages:
        try:
            with refuse_to_compile():
                load()
        except UncompiledError:
            missing.append(name)
    logger.setLevel(level)
    return missing


def _name_no_modules() -> None:
    """Keep a process from naming the modules that it compiles, as whole stages are named."""
    logging.getLogger("tiger").setLevel(logging.ERROR)


def stages_of(commands: set[str]) -> list[Stage]:
    """Return the stages whose kernels commands need, by name, with what loads them.

    Those of the use that has the most come first, as they take longest; one that several uses have comes once.
    """
    parts = [kernels.stages.load() for kernels in KERNELS if kernels.command in commands]
    return list(dict(stage for part in sorted(parts, key=len, reverse=True) for stage in part).items())
