"""Experts under one objective: a step by maps for load alone, for links alone and for both, on random traces."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from tiger.expert_maps.arguments import ExpertCall
from tiger.expert_maps.entry import report_experts
from tiger.expert_maps.params import ExpertOptions
from tiger.expert_maps.report import ExpertReport
from tiger.expert_maps.request import read_request
from tiger.expert_maps.slots.objective import ExpertCost, SlotProblem, price_slots
from tiger.expert_maps.warm import load
from tiger.model.arrays import FloatArray, IntArray
from tiger.run.progress import ignore
from tiger.training.sources import Hardware

# Tokens of a step, enough for a hundred of an expert.
TOKENS = 8_192
# Rounds of scaling rows and columns in turn, after which sums are met to some digits.
ROUNDS = 50
# Keeps every expert reachable, so that the scaling has an end.
FLOOR = 1e-6

# Experts and layers on 16 GPUs of two machines.
EXPERTS, LAYERS, CLUSTER = 64, 24, "dgx:2"
# Affinity, and exponents of Zipf's law for how often experts are asked for.
AFFINITY, SKEWS = 0.2, (0.0, 0.4, 0.8)
# An expert's matrices on an H100 for a token, and 7,168 numbers of two bytes.
TOKEN_S, TOKEN_BYTES = 2e-7, 14_336.0
# Replicas and groups of a row.
RULES = (("none", 0, None), ("16", 16, None), ("16, 8 groups", 16, 8))


@dataclass(frozen=True)
class Step:
    """Hold what a step of a trace costs by four maps, the bound, and the seconds of the search for the last."""

    order: ExpertCost
    load: ExpertCost
    links: ExpertCost
    both: ExpertCost
    bound: ExpertCost
    seconds: float


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield ms of a step, of which load and links, by map, skew and rule."""
    yield "skew", "replicas", "in order, ms", "by load alone", "by links alone", "one objective", "bound", "s"
    # So that no search waits for compilation.
    load()
    for skew in SKEWS:
        trace = draw_trace((EXPERTS, LAYERS), TOKENS, AFFINITY, skew, seed=0)
        for title, replicas, groups in RULES:
            say(f"experts of skew {skew}, replicas: {title}")
            options = ExpertOptions(experts=EXPERTS, held_out=0.0, replicas=replicas, groups=groups)
            step = price_maps(trace, CLUSTER, options)
            costs = (step.order, step.load, step.links, step.both, step.bound)
            yield f"{skew:g}", title, *(_ms(cost) for cost in costs), f"{step.seconds:.1f}"


def draw_trace(shape: tuple[int, int], tokens: int, alpha: float, skew: float, seed: int) -> IntArray:
    """Return the expert of each token in each layer, [tokens, layers], of a Markov chain over the layers.

    `shape` are experts and layers. An expert's probabilities of those of the next layer are a Dirichlet draw of
    concentration `alpha`: the smaller, the more a few next ones have most of its tokens. Rows and columns are scaled
    until experts of a layer are asked for by Zipf's law of exponent `skew`, in random order.
    """
    rng, (experts, layers) = np.random.default_rng(seed), shape
    zipf = np.arange(1, experts + 1) ** -skew
    asked = [rng.permutation(zipf / zipf.sum()) for _ in range(layers)]
    route = [rng.choice(experts, size=tokens, p=asked[0])]
    for before, after in pairwise(asked):
        chain = scale_table(rng.dirichlet(np.full(experts, alpha), size=experts) + FLOOR, before, after)
        reached = np.cumsum(chain / chain.sum(axis=1, keepdims=True), axis=1)[route[-1]]
        route.append(np.minimum((rng.random(tokens)[:, None] > reached).sum(axis=1), experts - 1))
    return np.array(route).T


def scale_table(table: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """Return a table whose rows and columns are scaled until they have these sums (Sinkhorn and Knopp, 1967)."""
    scaled = table
    for _ in range(ROUNDS):
        scaled = scaled * (columns / scaled.sum(axis=0))
        scaled = scaled * (rows / scaled.sum(axis=1))[:, None]
    return scaled


def price_maps(trace: IntArray, cluster: str, options: ExpertOptions) -> Step:
    """Return what a step costs, load and links, by the order of numbers and maps for each part alone and for both."""
    both = replace(options, token_s=TOKEN_S, token_bytes=TOKEN_BYTES)
    problem = read_request(ExpertCall(trace=trace, cluster=cluster), both).slots
    begun = time.perf_counter()
    report = place(trace, cluster, both)
    seconds = time.perf_counter() - begun
    return Step(
        order=report.objective.before,
        load=_price(problem, place(trace, cluster, replace(both, token_bytes=None))),
        links=_price(problem, place(trace, cluster, replace(both, token_s=None))),
        both=report.objective.after,
        bound=report.objective.bound,
        seconds=seconds,
    )


def place(trace: IntArray, cluster: Hardware, options: ExpertOptions) -> ExpertReport:
    """Return the report of experts under options."""
    return report_experts(ExpertCall(trace=trace, cluster=cluster), options, ignore)


def _price(problem: SlotProblem, report: ExpertReport) -> ExpertCost:
    """Return what the map of a report costs under the objective of a problem."""
    return price_slots(problem, np.array(report.slots))


def _ms(cost: ExpertCost) -> str:
    """Return the milliseconds of a step, and of its load and its links."""
    return f"{1e3 * cost.total:.2f} ({1e3 * cost.load:.2f} + {1e3 * cost.links:.2f})"
