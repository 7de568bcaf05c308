"""Measure what a constant is worth: mappings with several values of it, everything else the same.

    python -m benchmarks.vary MODULE:NAME VALUE .. [--solver NAME] [--effort N] [--seeds N] [--data FOLDER]

for example `python -m benchmarks.vary tiger.qubo.window_sampling:RISE 0.0 1/3 1.0 --solver neal`. For each value it
prints by how many per cent costs lie above those of the first value, in the mean over all problems and seeds, the
worst and the best problem, and the processor seconds relative to the first. Efforts count iterations, so that the costs
are the same on every machine. `--data` (or TIGER_QAPLIB) adds QAPLIB instances to the problems that are built here.
"""

import argparse
import operator
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import ModuleType

import networkx as nx
import numpy as np

from benchmarks.graphs import build_full_problem, geometric
from benchmarks.instances import generate, generate_layered, qaplib
from tiger.formats.graphs import task_graph_of
from tiger.mapper import solve
from tiger.model.problem import Problem, Rule
from tiger.topologies.spec import build

QAP = ("nug20", "nug30", "chr25a", "kra30a", "tai30b", "tai40a", "sko42", "ste36a")


def main() -> None:
    """Print a line for each value."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vary", description=__doc__.split("\n")[0])
    parser.add_argument("constant", metavar="MODULE:NAME", type=constant)
    parser.add_argument("values", metavar="VALUE", nargs="+", type=fraction)
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--effort", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=os.environ.get("TIGER_QAPLIB") or None)
    given = parser.parse_args()
    module, name = given.constant
    if not hasattr(module, name):
        parser.error(f"argument MODULE:NAME: expected a constant of a module, got {name}")
    kind, first = type(getattr(module, name)), None
    problems = list(instances(given.data))
    solve(problems[0][1], solver=given.solver)
    for value in given.values:
        setattr(module, name, kind(value))
        begun = time.process_time()
        costs = [
            [solve(problem, solver=given.solver, effort=given.effort, seed=seed).cost for seed in range(given.seeds)]
            for _, problem in problems
        ]
        spent = time.process_time() - begun
        first = (np.array(costs, float), spent) if first is None else first
        above = 100 * (np.array(costs, float) / first[0] - 1).mean(axis=1)
        low, high = int(above.argmin()), int(above.argmax())
        print(
            f"{name} = {float(value):g}: {above.mean():+.2f} % ({above[low]:+.1f} % {problems[low][0]}, "
            f"{above[high]:+.1f} % {problems[high][0]}), {spent / first[1]:.2f} x {first[1]:.1f} s",
            flush=True,
        )


def constant(text: str) -> tuple[ModuleType, str]:
    """Return a module and what is named in it; raise what argparse reports where there is none."""
    path, _, name = text.partition(":")
    try:
        module = import_module(path)
        operator.attrgetter(name)(module)
    except (ImportError, ValueError, AttributeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return module, name


def fraction(text: str) -> Fraction:
    """Return a number, which may be stated as 1/3; raise what argparse reports for any other text."""
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def instances(data: Path | None) -> Iterator[tuple[str, Problem]]:
    """Yield problems of every rule: dense and sparse ones, levels, one to many tasks a node, spare nodes, QAPLIB's."""
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
    crowded = build_full_problem(geometric(0, 2048), "torus:4x4x4")
    yield "2,048 points near each other on torus:4x4x4", crowded
    if data is not None:
        yield from ((name, problem) for name, problem, _ in qaplib(Path(data), QAP))


if __name__ == "__main__":
    main()
