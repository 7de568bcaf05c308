"""Windows of consecutive levels: within one level the assignment is linear, so a window spans at least two."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.window import Block
from tiger.partition.nodes import nodes_near


@dataclass(frozen=True, slots=True)
class LevelWindows:
    """Cut a levels problem into runs of `span` levels: forward for even seeds, backward and half a run on for odd."""

    span: int = 2

    def split(self, problem: Problem, start: IntArray, *, max_size: int, seed: int) -> Iterator[Block]:
        """Yield the runs of levels as blocks; one that exceeds `max_size` at its tasks' own nodes is cut by tasks."""
        # Runs start half a span later for odd seeds, so that levels at an edge come to lie inside.
        first = self.span // 2 if seed % 2 else 0
        groups = [group[problem.pins[group] < 0] for group in problem.groups]
        edges = sorted({0, *range(first, len(groups), self.span), len(groups)})
        runs = [np.concatenate(groups[a:b]) for a, b in pairwise(edges)]
        for run in runs[::-1] if seed % 2 else runs:
            # As many tasks as fit with a node for each: the size of a block is its tasks times its nodes.
            widest = max(int(max_size**0.5), 1)
            for chunk in np.array_split(run, -(-len(run) // widest)) if len(run) else []:
                yield Block(tasks=chunk, nodes=nodes_near(problem, start, chunk, max_size // len(chunk)))
