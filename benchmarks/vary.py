"""Measure what a constant is worth: mappings with several values of it, everything else the same.

    python -m benchmarks.vary MODULE:NAME VALUE .. [--solver NAME] [--effort N] [--seeds N] [--only TEXT]
                                                   [--data FOLDER]

NAME is a constant, or CLASS.FIELD for the parameters of a search, wherever they are held, for example `python -m
benchmarks.vary tiger.qubo.window_sampling:RISE 0.0 1/3 1.0 --solver neal`, or `python -m benchmarks.vary
tiger.solvers.annealing.tabu:TabuParams.tenure "(0.1, 0.4)" "(0.2, 0.3)" --only tai --data FOLDER`. For each value it
prints by how many per cent costs lie above those of the first value, in the mean over all problems and seeds, the
worst and the best problem, and the processor seconds relative to the first. Efforts count iterations, so that the costs
are the same on every machine. `--data` (or TIGER_QAPLIB) adds QAPLIB instances to the problems that are built here,
`--only` takes those whose names have a text.
"""

import argparse
import ast
import gc
import operator
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import ModuleType

import networkx as nx
import numpy as np
import scipy.sparse as sp

from benchmarks.graphs import build_full_problem, geometric
from benchmarks.hypergraphs import build_multicast, draw_circuit, draw_nets
from benchmarks.instances import generate, generate_layered, qaplib
from tiger.errors import InputError
from tiger.formats.graphs import task_graph_of
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.model.sharing import Rule
from tiger.topologies.spec import build

QAP = ("nug20", "nug30", "chr25a", "kra30a", "tai30b", "tai40a", "sko42", "ste36a")


def main() -> None:
    """Print a line for each value."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vary", description=__doc__.split("\n")[0])
    parser.add_argument("constant", metavar="MODULE:NAME", type=constant)
    parser.add_argument("values", metavar="VALUE", nargs="+", type=number)
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--effort", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--data", type=Path, default=os.environ.get("TIGER_QAPLIB") or None)
    given = parser.parse_args()
    try:
        check_values(*given.constant, given.values)
    except ValueError as error:
        parser.error(str(error))
    if given.seeds < 1:
        parser.error(f"argument --seeds: expected a number from 1 on, got {given.seeds}")
    problems = [(name, problem) for name, problem in instances(given.data) if given.only in name]
    if not problems:
        parser.error(f"argument --only: expected a part of the name of a problem, got {given.only}")
    try:
        solve(problems[0][1], solver=given.solver, effort=given.effort)
    except InputError as error:
        parser.error(str(error))
    first = None
    for value in given.values:
        change(*given.constant, value)
        begun = time.process_time()
        reports = [
            [solve(problem, solver=given.solver, effort=given.effort, seed=seed) for seed in range(given.seeds)]
            for _, problem in problems
        ]
        costs = [[report.objective.value if report.objective else report.cost for report in row] for row in reports]
        spent = time.process_time() - begun
        first = (np.array(costs, float), spent) if first is None else first
        above = 100 * (np.array(costs, float) / first[0] - 1).mean(axis=1)
        low, high = int(above.argmin()), int(above.argmax())
        print(
            f"{given.constant[1]} = {value}: {above.mean():+.2f} % ({above[low]:+.1f} % {problems[low][0]}, "
            f"{above[high]:+.1f} % {problems[high][0]}), {spent / first[1]:.2f} x {first[1]:.1f} s",
            flush=True,
        )


def constant(text: str) -> tuple[ModuleType, str]:
    """Return a module and what is named in it; raise what argparse reports where there is none."""
    path, _, name = text.partition(":")
    try:
        module = import_module(path)
        found = operator.attrgetter(name)(module)
    except (ImportError, ValueError, AttributeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    owner, _, field = name.partition(".")
    if not field and callable(found):
        raise argparse.ArgumentTypeError(f"expected a constant or CLASS.FIELD, got {name}")
    if field and field not in (getattr(getattr(module, owner).__init__, "__kwdefaults__", None) or {}):
        raise argparse.ArgumentTypeError(f"expected a field with a default of a dataclass by keywords, got {name}")
    return module, name


def check_values(module: ModuleType, name: str, values: Sequence[object]) -> None:
    """Raise ValueError for a value that is no number where there is one now, or is not several where there are."""
    owner, _, field = name.partition(".")
    now = getattr(module, owner)
    now = now.__init__.__kwdefaults__[field] if field else now
    for value in values:
        for kind, what in ((int | float, "a number"), (tuple, "several numbers in brackets")):
            if isinstance(now, kind) and not isinstance(value, kind):
                raise ValueError(f"argument VALUE: expected {what}, as {now} is, got {value}")


def number(text: str) -> object:
    """Return a number, which may be stated as 1/3, or several as (1, 2); raise what argparse reports for other text."""
    try:
        return ast.literal_eval(text) if "/" not in text else float(Fraction(text))
    except (ValueError, SyntaxError, ZeroDivisionError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def change(module: ModuleType, name: str, value: object) -> None:
    """Set a constant of a module, or a field of all parameters of a class, those by default too."""
    owner, _, field = name.partition(".")
    if not field:
        setattr(module, name, value)
        return
    params = getattr(module, owner)
    params.__init__.__kwdefaults__[field] = value
    for instance in [each for each in gc.get_objects() if isinstance(each, params)]:
        object.__setattr__(instance, field, value)


def instances(data: Path | None) -> Iterator[tuple[str, Problem]]:
    """Yield problems of every rule: dense and sparse ones, levels, one to many tasks a node, and spare nodes.

    Two have hyperedges for traffic, and QAPLIB's come last.
    """
    yield from generate()
    yield from generate_layered()
    rng = np.random.default_rng(0)
    for size, hardware, slots in ((64, "torus:4x4x4", 1), (60, "grid:4x4", 4), (120, "tree:4x8@1,10", 4)):
        graph = nx.random_geometric_graph(size, 0.2, seed=size)
        for edge in graph.edges.values():
            edge["weight"] = int(rng.integers(1, 100))
        nodes = build(hardware)
        topology = replace(nodes, slots=np.where(nodes.slots > 0, slots, 0))
        rule: Rule = "one-to-one" if slots == 1 else "capacity"
        yield f"{size} on {hardware}", Problem(tasks=task_graph_of(graph), topology=topology, rule=rule)
    for dims in ((8, 8), (8, 12), (4, 4, 4)):
        graph = nx.convert_node_labels_to_integers(nx.grid_graph(dims[::-1]))
        name = f"grid {'x'.join(map(str, dims))} on fat-tree:8"
        yield name, Problem(tasks=task_graph_of(graph), topology=build("fat-tree:8"), rule="one-to-one")
    for draw, size, hardware in ((draw_nets, 256, "torus:3x3"), (draw_circuit, 512, "tree:4x4@1,10")):
        name = f"{size} by hyperedges on {hardware.partition('@')[0]}"
        yield name, build_multicast(draw(size), size, hardware)
    crowded = build_full_problem(geometric(0, 2048), "torus:4x4x4")
    yield "2,048 points near each other on torus:4x4x4", crowded
    hubs = nx.to_scipy_sparse_array(nx.barabasi_albert_graph(2048, 8, seed=1), dtype=float)
    yield "2,048 of a power-law graph on torus:4x4", build_full_problem(sp.triu(hubs, 1, "csr"), "torus:4x4")
    if data is not None:
        yield from ((name, problem) for name, problem, _ in qaplib(Path(data), QAP))


if __name__ == "__main__":
    main()
