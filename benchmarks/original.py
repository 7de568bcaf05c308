"""The original tool's example on its own meshes: proven optima against what TIGER finds."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from tiger.formats.files import read_tasks, read_topology
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.model.sharing import Rule

EXAMPLES = Path(__file__).parent.parent / "examples"
SEEDS = range(5)
CASES: tuple[tuple[Rule, str, int], ...] = (
    ("levels", "mesh_2x2_het", 388),
    ("levels", "mesh_4x4_het", 268),
    ("levels", "mesh_4x4_homo", 268),
    ("one-to-one", "mesh_4x4_het", 542),
    ("one-to-one", "mesh_4x4_homo", 396),
)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the rows: rule, mesh, optimum, best simple order, and how often and how fast solvers reach the optimum."""
    yield ("rule", "mesh", "proven optimum", "best simple order", "`auto`", "`neal`", "`tabu`")
    tasks = read_tasks(EXAMPLES / "butko11.ram").tasks
    for rule, mesh, optimum in CASES:
        say(f"{rule} {mesh}")
        problem = Problem(tasks=tasks, topology=read_topology(str(EXAMPLES / f"{mesh}.arc")), rule=rule)
        cells = []
        for solver in ("auto", "neal", "tabu"):
            reports = [solve(problem, solver=solver, seed=seed) for seed in SEEDS]
            hits = sum(report.cost == optimum for report in reports)
            seconds = sorted(report.seconds for report in reports)[len(reports) // 2]
            cells.append(f"{hits} of {len(reports)}, {seconds:.2f} s")
        order, cost = reports[0].baselines.best or ("none", math.nan)
        yield rule, mesh, str(optimum), f"{cost:g} ({order})", *cells
