"""Placements of small models against brute force, on times, bytes and links from 1e-9 to 1e12 mixed at will.

The oracle reads the documents alone: it adds up non-negative numbers by `math.fsum`, which rounds once, and compares
memory as fractions. No lower bound may lie above the best placement, nothing may be called optimal that is not, and
nothing infeasible that some placement satisfies.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiger
from tests.fuzz.profile import cases
from tiger.placement.chain.params import never_stop
from tiger.placement.entry import operators as graphs
from tiger.placement.entry.report import PlacementReport
from tiger.placement.operators.bounds.bound import BoundParams, load_bound_s
from tiger.placement.operators.latency.list_scheduling import makespan_s
from tiger.placement.operators.terms import Terms
from tiger.placement.params import PlaceParams
from tiger.placement.search.evaluator import Evaluator
from tiger.planning.choices import families, positions, schedules_of
from tiger.planning.params import PlanParams
from tiger.training.costs.plan import Plan
from tiger.training.costs.stage_positions import StageStyle
from tiger.training.costs.tolerances import MEMORY, MET
from tiger.training.hardware.reading import cluster_of_document as cluster_from
from tiger.training.models.sizes import model_of
from tiger.training.schedules.pass_orders import Schedule, stages_each, style_of
from tiger.training.sources import chain_model_of

pytestmark = pytest.mark.slow

SEEDS = st.integers(0, 2**32 - 1)
# The oracle rounds once a sum and once a quotient.
ORACLE = 1e-13
Draw = Callable[[], float]
# What a document holds is read by the package, which is what checks it.
Document = dict[str, list[dict[str, Any]]]


def amounts(rng: random.Random) -> Draw:
    """Return a source of numbers: of any scale, of one scale, of one scale with a few far away, or whole ones."""
    kind, scale = rng.randrange(5), 10.0 ** rng.uniform(-9, 11)
    if kind == 0:
        return lambda: 10.0 ** rng.uniform(-9, 12)
    if kind == 1:
        return lambda: scale * rng.uniform(0.1, 10)
    if kind == 2:
        return lambda: rng.choice((1e-9, 1e12)) if rng.random() < 0.2 else scale * rng.uniform(0.5, 5)
    if kind == 3:
        return lambda: 1e12 if rng.random() < 0.15 else float(rng.randrange(10))
    return lambda: 2.0 ** rng.randrange(-29, 40)


def cluster_of(rng: random.Random, size: int, held: Sequence[float] = ()) -> Document:
    """Return a document of devices with links of their own, some missing; memory is often just what some bytes need."""
    speed, bandwidth, latency = (amounts(rng) for _ in range(3))
    even, tight, linked = rng.random() < 0.5, rng.random() < 0.5, rng.choice((1.0, 1.0, 0.7))

    def memory() -> float:
        return math.fsum(rng.sample(held, rng.randint(1, len(held)))) * rng.choice((1.0, 1.0, 1.5))

    names = rng.sample([f"d{k}" for k in range(size)], size)
    devices = [{"name": name, "speed": 1.0 if even else max(speed(), 1e-9)} for name in names]
    for device in devices:
        if tight and held:
            device["memory_bytes"] = memory()
    links = []
    for a, b in itertools.combinations(names, 2):
        if rng.random() < linked:
            link = {
                "a": a,
                "b": b,
                "bandwidth": max(bandwidth(), 1e-9),
                "latency": latency() if rng.random() < 0.5 else 0,
            }
            links.append(link)
    return {"devices": devices, "links": links}


def seconds_between(cluster: Document) -> Callable[[int, int, float], float]:
    """Return the seconds of a message between two devices, infinite where they have no link."""
    at = {device["name"]: k for k, device in enumerate(cluster["devices"])}
    links = {frozenset((at[link["a"]], at[link["b"]])): link for link in cluster["links"]}

    def seconds(a: int, b: int, size: float) -> float:
        link = links.get(frozenset((a, b)))
        if a == b or size == 0:
            return 0.0
        return math.inf if link is None else link["latency"] + size / link["bandwidth"]

    return seconds


def room(cluster: Document, device: int) -> float:
    """Return the bytes of a device."""
    return cluster["devices"][device].get("memory_bytes", math.inf)


def fits(held: Sequence[float], capacity: float) -> bool:
    """Return whether bytes fit into a device, but for the tolerance that is stated, to the last bit of the product."""
    return capacity == math.inf or sum(map(Fraction, held), Fraction(0)) <= Fraction(capacity * (1 + MEMORY))


def chain_of(rng: random.Random, size: int) -> Document:
    """Return a table of layers."""
    time, sent, held = (amounts(rng) for _ in range(3))
    return {
        "layers": [
            {
                "name": f"l{k}",
                "forward_s": time(),
                "backward_s": time() if rng.random() < 0.7 else 0.0,
                "parameter_bytes": 0,
                "state_bytes": held(),
                "activation_bytes": sent() if rng.random() < 0.8 else 0.0,
            }
            for k in range(size)
        ]
    }


def lines(layers: int, devices: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield all orders of some devices, and all cuts of layers among them."""
    for stages in range(1, min(layers, devices) + 1):
        for order in itertools.permutations(range(devices), stages):
            for inner in itertools.combinations(range(1, layers), stages - 1):
                yield order, (0, *inner, layers)


def best_line(model: Document, cluster: Document) -> float:
    """Return the least bottleneck of all lines."""
    layers, seconds = model["layers"], seconds_between(cluster)
    best = math.inf
    for order, cuts in lines(len(layers), len(cluster["devices"])):
        worst = 0.0
        for j, device in enumerate(order):
            own = layers[cuts[j] : cuts[j + 1]]
            if not fits([layer["state_bytes"] for layer in own], room(cluster, device)):
                worst = math.inf
                break
            passes = math.fsum(layer[key] for layer in own for key in ("forward_s", "backward_s"))
            ends = [(j - 1, cuts[j])] * (j > 0) + [(j, cuts[j + 1])] * (j + 1 < len(order))
            sent = [2 * seconds(order[a], order[a + 1], layers[c - 1]["activation_bytes"]) for a, c in ends]
            worst = max(worst, math.fsum([passes / cluster["devices"][device]["speed"], *sent]))
        best = min(best, worst)
    return best


def graph_of(rng: random.Random, size: int) -> Document:
    """Return a table of operators with a few edges, some colocated."""
    time, sent, held = (amounts(rng) for _ in range(3))
    operators: list[dict[str, object]] = []
    for k in range(size):
        operator = {"name": f"o{k}", "seconds": time(), "memory_bytes": held()}
        operator["output_bytes"] = sent() if rng.random() < 0.7 else 0.0
        operator["output_seconds"] = time() if rng.random() < 0.2 else 0.0
        operator["colocate"] = rng.randrange(size) if rng.random() < 0.2 else f"own{k}"
        operators.append(operator)
    share = rng.uniform(0.2, 0.7)
    edges = [[f"o{a}", f"o{b}"] for a, b in itertools.combinations(range(size), 2) if rng.random() < share]
    return {"operators": operators, "edges": edges}


def places(model: Document, cluster: Document, *, contiguous: bool) -> Iterator[tuple[int, ...]]:
    """Yield the device of every operator, for all placements within memory, of stages where these are asked for."""
    operators, size = model["operators"], len(cluster["devices"])
    at = {operator["name"]: k for k, operator in enumerate(operators)}
    edges = [(at[a], at[b]) for a, b in model["edges"]]
    labels = sorted({str(operator["colocate"]) for operator in operators})
    for choice in itertools.product(range(size), repeat=len(labels)):
        of = dict(zip(labels, choice, strict=True))
        place = tuple(of[str(operator["colocate"])] for operator in operators)
        held = [[o["memory_bytes"] for o, d in zip(operators, place, strict=True) if d == k] for k in range(size)]
        if not all(fits(each, room(cluster, k)) for k, each in enumerate(held)):
            continue
        if not contiguous or in_stages({(place[a], place[b]) for a, b in edges}, size):
            yield place


def in_stages(arcs: set[tuple[int, int]], size: int) -> bool:
    """Return whether devices have an order that no arc goes backwards in."""
    return any(all(order.index(a) <= order.index(b) for a, b in arcs) for order in itertools.permutations(range(size)))


def largest_load(model: Document, cluster: Document, place: tuple[int, ...]) -> float:
    """Return the largest load of a placement: work, each output once, and each input once."""
    operators, seconds = model["operators"], seconds_between(cluster)
    at = {operator["name"]: k for k, operator in enumerate(operators)}
    spent: list[list[float]] = [[] for _ in cluster["devices"]]
    for k, operator in enumerate(operators):
        spent[place[k]].append(operator["seconds"] / cluster["devices"][place[k]]["speed"])
        readers = {place[at[b]] for a, b in model["edges"] if at[a] == k} - {place[k]}
        times = []
        for device in sorted(readers):
            # What takes time whatever the link needs a link all the same.
            link = seconds(place[k], device, operator["output_bytes"] or 5e-324)
            times.append(link if operator["output_bytes"] or link == math.inf else 0.0)
            times[-1] += operator["output_seconds"]
            spent[device].append(times[-1])
        spent[place[k]].append(max(times, default=0.0))
    return max(map(math.fsum, spent))


def check(report: PlacementReport, value: float | None, bound: float | None, best: float) -> None:
    """Compare what a report claims with the least seconds of all placements."""
    if not report.feasible:
        kinds = {violation.kind for violation in report.violations}
        assert best == math.inf or kinds == {"undecided"}, (kinds, best)
        return
    assert value is not None
    assert value >= best * (1 - ORACLE), (value, best)
    assert bound is None or bound <= best * (1 + ORACLE), (bound, best)
    if report.optimal:
        assert value <= best * (1 + MET) * (1 + ORACLE), (value, best)


def terms_of(model: Document, cluster: Document) -> Terms:
    """Return operators on a cluster as the search sees them."""
    return Terms.from_operators(*graphs.pair_with_cluster(*graphs.read(model), cluster_from(cluster)), {})


def grids(devices: int, tensor: int, data: int, layers: int, virtual: int, style: StageStyle) -> Iterator[Plan]:
    """Yield all plans of as many count as may be."""
    for count in range(1, devices // (tensor * data) + 1):
        for order in itertools.permutations(range(devices), count * tensor * data):
            for inner in itertools.combinations(range(1, layers), count * virtual - 1):
                yield Plan(cuts=(0, *inner, layers), grid=np.reshape(order, (count, data, tensor)), style=style)


def best_plan(model: Document, cluster: Document, wanted: PlaceParams) -> float:
    """Return the least seconds that the simulator gives any plan."""
    layers, devices = chain_model_of(model).given, cluster_from(cluster)
    judge = Evaluator(layers=layers, cluster=devices, schedule=wanted.schedule, microbatches=wanted.microbatches or 1)
    size = wanted.tensor, wanted.data, layers.size, wanted.virtual or 1, style_of(wanted.schedule)
    return min((judge.value(plan) for plan in grids(devices.size, *size)), default=math.inf)


def chain_and_cluster(rng: random.Random, layers: int, devices: int) -> tuple[Document, Document]:
    """Return a table of layers and devices for them."""
    model = chain_of(rng, layers)
    return model, cluster_of(rng, devices, [layer["state_bytes"] for layer in model["layers"]])


def graph_and_cluster(rng: random.Random, operators: int, devices: int) -> tuple[Document, Document]:
    """Return a table of operators and devices for them."""
    model = graph_of(rng, operators)
    return model, cluster_of(rng, devices, [operator["memory_bytes"] for operator in model["operators"]])


@given(SEEDS)
@cases(quick=15, long=3000)
def test_chain_is_never_proved_beyond_the_best_line(seed: int) -> None:
    """The bottleneck of a chain and its bound agree with all orders of devices and all cuts."""
    rng = random.Random(seed)
    model, cluster = chain_and_cluster(rng, rng.randint(1, 7), rng.randint(1, 3))
    report = tiger.place(model, cluster)
    check(report, report.bottleneck_s, report.lower_bound_s, best_line(model, cluster))


@given(SEEDS, st.sampled_from(get_args(Schedule)))
@cases(quick=15, long=1000)
def test_schedule_is_never_proved_beyond_the_best_plan(seed: int, schedule: Schedule) -> None:
    """The iteration of a schedule and its bound agree with the simulation of all plans."""
    rng = random.Random(seed)
    model, cluster = chain_and_cluster(rng, rng.randint(2, 5), rng.randint(1, 3))
    # Six microbatches go with every schedule and number of devices.
    virtual = stages_each(schedule) or 2
    count = rng.randint(1, 6) if schedule in ("gpipe", "1f1b", "zero-bubble", "zb-v") else 6
    wanted = PlaceParams(schedule=schedule, microbatches=count, virtual=virtual)
    report = tiger.place(model, cluster, schedule=schedule, microbatches=count, virtual=virtual)
    check(report, report.iteration_s, report.iteration_bound_s, best_plan(model, cluster, wanted))


@given(SEEDS, st.sampled_from(((2, 1), (1, 2), (2, 2))), st.sampled_from((None, "1f1b", "gpipe", "zb-v", "chimera")))
@cases(quick=3, long=1000)
def test_groups_are_never_proved_beyond_the_best_ranks(
    seed: int, degrees: tuple[int, int], schedule: Schedule | None
) -> None:
    """The bounds of tensor- and data-parallel groups agree with all places of their ranks."""
    rng = random.Random(seed)
    model, cluster = chain_and_cluster(rng, rng.randint(1, 4), 4)
    reduced = amounts(rng)
    for layer in model["layers"]:
        layer |= {"reduced_bytes": reduced(), "reductions": 1, "parameter_bytes": layer["state_bytes"]}
    count, virtual = None if schedule is None else 4, stages_each(schedule)
    wanted = PlaceParams(schedule=schedule, microbatches=count, tensor=degrees[0], data=degrees[1], virtual=virtual)
    report = tiger.place(model, cluster, schedule=schedule, microbatches=count, tensor=degrees[0], data=degrees[1])
    bound = report.lower_bound_s if schedule is None else report.iteration_bound_s
    value = report.bottleneck_s if schedule is None else report.iteration_s
    check(report, value, bound, best_plan(model, cluster, wanted))


@given(SEEDS)
@cases(quick=12, long=1500)
def test_operators_are_never_proved_beyond_the_best_placement(seed: int) -> None:
    """The largest load of a graph and its bound agree with all placements, or with all of contiguous stages."""
    rng = random.Random(seed)
    contiguous = rng.random() < 0.5
    model, cluster = graph_and_cluster(rng, rng.randint(1, 6), rng.randint(1, 3))
    report = tiger.place(model, cluster, mode="dag", contiguous=contiguous)
    loads = [largest_load(model, cluster, place) for place in places(model, cluster, contiguous=contiguous)]
    check(report, report.bottleneck_s, report.lower_bound_s, min(loads, default=math.inf))


@given(SEEDS)
@cases(quick=1, long=200)
def test_linear_programs_bound_no_load_beyond_the_best_placement(seed: int) -> None:
    """The bound for graphs too large for an exact search holds, whether the best placement is known or not."""
    rng = random.Random(seed)
    model, cluster = graph_and_cluster(rng, rng.randint(2, 6), rng.randint(1, 3))
    terms = terms_of(model, cluster)
    loads = [largest_load(model, cluster, place) for place in places(model, cluster, contiguous=False)]
    best = min(loads, default=math.inf)
    for known in {best, math.inf}:
        assert load_bound_s(terms, BoundParams(), never_stop, known) <= best


@given(SEEDS)
@cases(quick=2, long=600)
def test_makespan_is_never_proved_beyond_the_best_placement(seed: int) -> None:
    """The bound on the makespan of one microbatch holds for the list schedules of all placements."""
    rng = random.Random(seed)
    model, cluster = graph_and_cluster(rng, rng.randint(1, 5), rng.randint(1, 3))
    terms = terms_of(model, cluster)
    report = tiger.place(model, cluster, mode="dag", objective="latency")
    label = [int(terms.group_of[k]) for k in range(terms.operators)]
    spans = []
    for place in places(model, cluster, contiguous=False):
        of = dict(zip(label, place, strict=True))
        spans.append(makespan_s(terms, np.array([of[c] for c in range(terms.groups)])))
    check(report, report.latency_s, report.latency_bound_s, min(spans, default=math.inf))


@given(SEEDS)
@cases(quick=3, long=150)
def test_plan_is_never_proved_beyond_the_best_choice(seed: int) -> None:
    """The bound of a plan holds for all plans of all degrees, schedules and microbatches."""
    rng = random.Random(seed)
    model, cluster = chain_and_cluster(rng, rng.randint(1, 4), rng.randint(1, 3))
    asked, batch = PlanParams(batch=4), 4
    source, devices, best = model_of(model), cluster_from(cluster), math.inf
    for family in families(source, devices, asked):
        for count in positions(source, devices, asked, family):
            for choice in schedules_of(source, asked, family, count):
                best = min(best, best_plan(model, cluster, replace(choice.params(asked), pipeline=None)))
    report = tiger.plan(model, cluster, batch=batch)
    assert report.feasible or best == math.inf or {v.kind for v in report.violations} == {"undecided"}
    if report.feasible:
        assert report.lower_bound_s is not None
        assert report.lower_bound_s <= best
        assert not report.optimal or report.iteration_s <= best * (1 + MET) * (1 + ORACLE)
