"""Graphs of operators: the largest load of a placement, beside plain splits and bounds."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.placement.operators.incumbent import fits
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.params import OperatorParams
from tiger.placement.operators.solve import place_operators
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.cut_dp import cut
from tiger.placement.operators.uniform import uniform_split
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.reading import read_cluster
from tiger.training.models.graphs import read_operators
from tiger.training.models.operators import Operators

EXAMPLES = Path(__file__).parent.parent / "examples"
# Random linear orders of which the best cut counts.
ORDERS = 30
HEAD = ("graph", "operators", "devices", "uniform", "exact cuts", "contiguous", "CPU s", "free", "CPU s", "bound")


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the largest loads in ms, and processor seconds, on the accelerators that every file states.

    `data` is a folder with graphs of dnn-partitioning, at any depth; beside them there is an example.
    """
    yield HEAD
    towers = read_operators(EXAMPLES / "models" / "two_towers.csv")[0]
    yield "two towers", *row(towers, read_cluster(EXAMPLES / "clusters" / "pair_and_host.json"))
    for path in sorted(data.rglob("*.json")) if data else ():
        title = " ".join((*path.parts[-3:-1], path.stem))
        say(title)
        try:
            operators, stated = read_operators(path)
        except InputError as error:
            say(f"nothing, {error}")
            continue
        if stated is not None:
            yield title, *row(operators, replace(stated, cpus=0).cluster())


def row(operators: Operators, cluster: Cluster) -> Iterator[str]:
    """Yield what placements of a graph come to."""
    terms = Terms.from_operators(operators, cluster, {})
    yield str(operators.size)
    yield str(cluster.size)
    plain = uniform_split(terms, draw_linear_order(terms, 0))
    yield format_load(terms, plain if fits(terms, plain) else None)
    cuts = [made.place for order in range(ORDERS) if (made := cut(terms, draw_linear_order(terms, order), order))]
    yield format_load(terms, min(cuts, key=lambda place: largest_s(terms, place), default=None))
    for contiguous in (True, False):
        begun = time.process_time()
        found = place_operators(operators, cluster, OperatorParams(contiguous=contiguous))
        yield format_load(terms, found.place)
        yield f"{time.process_time() - begun:.1f}"
    yield "-" if found.lower_bound_s is None else f"{found.lower_bound_s * 1e3:.3f}"


def largest_s(terms: Terms, place: IntArray) -> float:
    """Return the largest load of a device."""
    return float(np.sum(loads_s(terms, place), axis=0).max())


def format_load(terms: Terms, place: IntArray | None) -> str:
    """Return the largest load in ms, a dash where nothing fits."""
    return "-" if place is None else f"{largest_s(terms, place) * 1e3:.3f}"
