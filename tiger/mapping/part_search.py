"""The search for cheap places in a part of a problem, or a coarser one, within a solve."""

import time
from dataclasses import dataclass, replace

from tiger.feasibility.start import launch_order
from tiger.mapping.request import Request
from tiger.mapping.rounds import search_cost
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.violation import Violation
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent


@dataclass(slots=True)
class PartSearch:
    """Search as a request says, in a quarter of the time left; `loading_s` is how long kernels were loaded for it.

    Samples are kept where the tasks of a part are those of the whole problem, whose mappings they are.
    """

    request: Request
    loading_s: float = 0.0

    def __call__(self, part: Problem) -> IntArray | tuple[Violation, ...]:
        """Return cheap places [n], or what cannot be met."""
        left_s = self.request.deadline(self.loading_s).left_s
        start = launch_order(part, left_s)
        if isinstance(start, tuple):
            return start
        stop = Deadline(None if left_s is None else time.monotonic() + left_s / 4)
        incumbent = MappingIncumbent(problem=part, solution=start, stop=stop)
        ising, folder = replace(self.request.ising, control=False), self.request.folder
        if folder is not None and part.tasks is not folder.problem.tasks:
            folder = None
        search_cost(
            incumbent,
            replace(
                self.request,
                objective="cost",
                home=None,
                homes=None,
                max_moves=None,
                move_cost=None,
                ising=ising,
                folder=folder,
            ),
        )
        self.loading_s += incumbent.loading_s
        return incumbent.places
