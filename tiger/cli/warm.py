"""Compile the kernels of everything into numba's cache."""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tiger.bounds.warm import warm as warm_bounds
from tiger.circuits.warm import warm as warm_circuits
from tiger.pipeline.warm import warm as warm_placements
from tiger.solvers.warm import warm as warm_searches


def warm_all(progress: Callable[[str], None]) -> None:
    """Compile the kernels of all searches in processes side by side; `progress` is pickled.

    A compilation locks its process, so that threads would not help.
    """
    with ProcessPoolExecutor(min(os.cpu_count() or 1, 4), mp_context=get_context("spawn")) as pool:
        # The longest group comes first.
        groups = [
            pool.submit(warm_circuits, progress, ("routing",)),
            pool.submit(warm_searches, progress),
            pool.submit(warm_circuits, progress, ("windows", "placement")),
            pool.submit(warm_placements, progress),
            pool.submit(warm_bounds, progress),
        ]
        for group in groups:
            group.result()
