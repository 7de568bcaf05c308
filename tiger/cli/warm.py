"""Compile the kernels of commands into numba's cache."""

import logging
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context

from tiger.bounds import warm as bounds
from tiger.circuits import warm as circuits
from tiger.pipeline import warm as placements
from tiger.solvers import warm as searches

Stage = tuple[str, Callable[[], None]]
COMMANDS = ("assign", "layout", "place")


def warm_all(commands: Iterable[str], compiled: Callable[[str, int, int], None]) -> None:
    """Compile what commands need, in as many processes as there are cores.

    `compiled` is called with every stage whose kernels are there, how many are, and of how many. A compilation locks
    its process, so that threads would not help.
    """
    stages = stages_of(set(commands))
    workers = min(len(os.sched_getaffinity(0)), len(stages))
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_name_no_modules) as pool:
        names = {pool.submit(load): name for name, load in stages}
        for count, future in enumerate(as_completed(names), 1):
            future.result()
            compiled(names[future], count, len(names))


def _name_no_modules() -> None:
    """Keep a process from naming the modules that it compiles, as whole stages are named."""
    logging.getLogger("tiger").setLevel(logging.ERROR)


def stages_of(commands: set[str]) -> list[Stage]:
    """Return the stages whose kernels commands need, by name, with what loads them.

    The longest come first; after them those of searches, one of which often calls kernels of the one before.
    """
    stages: list[Stage] = []
    if "layout" in commands:
        stages.append(("routing", partial(circuits.load, "routing")))
    if commands & {"assign", "layout"}:
        stages += [(name, partial(searches.load, name)) for name in searches.KERNELS]
    if "layout" in commands:
        stages += [(name, partial(circuits.load, name)) for name in circuits.KERNELS if name != "routing"]
    if "place" in commands:
        stages += [(name, partial(placements.load, name)) for name in placements.KERNELS]
    if "assign" in commands:
        stages += [(name, bounds.load) for name in bounds.KERNELS]
    return stages
