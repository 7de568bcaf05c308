"""Tests of the placement of operators, as a whole."""

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from tiger.placement.operators import operator_search, solve
from tiger.placement.operators.incumbent import PlacementIncumbent, fits
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.params import OperatorParams
from tiger.placement.operators.solve import place_operators
from tiger.placement.operators.terms import Terms
from tiger.run.progress import Progress
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.operators import Operators

# A diamond: a feeds b and c, which feed d; e takes a gradient back to a.
DIAMOND = Operators(
    names=tuple("abcde"),
    seconds=np.array([1.0, 3.0, 4.0, 2.0, 2.0]),
    memory_bytes=np.array([2.0, 5.0, 5.0, 2.0, 0.0]),
    sent_s=np.full(5, 0.1),
    source=np.array([0, 0, 1, 2, 3]),
    target=np.array([1, 2, 3, 3, 4]),
    colour=np.array([0, 1, 2, 3, 0]),
    backward=np.array([False, False, False, False, True]),
)
PAIR = Cluster(
    names=("x", "y"),
    speed=np.ones(2),
    memory_bytes=np.full(2, 10.0),
    curves=(Curve.affine(1.0, 0.0),),
    link=np.zeros((2, 2), np.int64),
)


def test_a_diamond_is_placed_best_and_that_is_proved() -> None:
    """Stem, gradient and a branch, and the head with the other: 6 s and three messages each."""
    found = place_operators(DIAMOND, PAIR, OperatorParams())
    assert found.bottleneck_s == pytest.approx(6.3)
    assert found.lower_bound_s == pytest.approx(6.3)
    assert found.place is not None
    assert found.place[0] == found.place[1] != found.place[2] == found.place[3]
    assert [stage.name for stage in found.stages] == ["uniform", "exact"]
    assert found.uniform_bottleneck_s is not None
    assert found.uniform_bottleneck_s >= found.bottleneck_s
    assert found.uniform_feasible


@pytest.mark.long
@pytest.mark.parametrize("limit", [24, 0])
@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("objective", ["throughput", "latency", "both"])
def test_figures_are_those_of_the_placement(
    monkeypatch: pytest.MonkeyPatch, limit: int, objective: Any, *, contiguous: bool
) -> None:
    """Whatever has been asked for and however it has been found: no bound is above it, and pins and memory hold."""
    monkeypatch.setattr(operator_search, "FEW", limit)
    pinned = {"d": "x"}
    found = place_operators(DIAMOND, PAIR, OperatorParams(contiguous=contiguous, objective=objective, pinned=pinned))
    terms = Terms.from_operators(DIAMOND, PAIR, {3: 0})
    assert found.place is not None
    assert found.place[3] == 0
    assert fits(terms, found.place)
    assert found.bottleneck_s == pytest.approx(float(np.add(*loads_s(terms, found.place)).max()))
    for value, bound in ((found.bottleneck_s, found.lower_bound_s), (found.latency_s, found.latency_bound_s)):
        assert bound is None or value >= bound * (1 - 1e-9)
    assert (found.latency_s is None) == (objective == "throughput")
    assert set(found.line) == (set(found.place.tolist()) if contiguous else set())
    assert bool(found.warnings) == (contiguous and objective != "throughput")


def test_few_contiguous_stages_are_bound_by_the_best_of_all_placements() -> None:
    """The best stages of the diamond are the best of all its placements, 6.3 s."""
    found = place_operators(DIAMOND, PAIR, OperatorParams(contiguous=True))
    assert (found.bottleneck_s, found.lower_bound_s) == (pytest.approx(6.3), pytest.approx(6.3))


@pytest.mark.slow
def test_few_contiguous_stages_are_found_where_no_cut_of_a_line_fits() -> None:
    """Two chains, on two devices without a link: lines that mix them cannot be cut."""
    model = replace(DIAMOND, source=np.array([0, 1]), target=np.array([2, 3]), backward=np.zeros(5, np.bool_))
    apart = replace(PAIR, link=np.full((2, 2), -1))
    pinned = {"a": "x", "b": "y", "e": "x"}
    for seed in range(5):
        found = place_operators(model, apart, OperatorParams(contiguous=True, pinned=pinned, seed=seed))
        assert found.place is not None
        assert found.place.tolist() == [0, 1, 0, 1]


def test_what_fits_nowhere_is_said_for_latency_too() -> None:
    """Three operators of 6 bytes do not fit into two devices of 10, though 18 bytes are fewer than 20."""
    model = replace(DIAMOND, memory_bytes=np.array([6.0, 6.0, 6.0, 0.0, 0.0]))
    found = place_operators(model, PAIR, OperatorParams(objective="latency"))
    assert [violation.kind for violation in found.violations] == ["memory"]


@pytest.mark.long
def test_a_chain_for_latency_stays_on_one_device() -> None:
    """Two devices would only add messages: 12 s, which is the longest path."""
    chain = replace(DIAMOND, source=np.array([0, 1, 2, 3]), target=np.array([1, 2, 3, 4]), memory_bytes=np.zeros(5))
    found = place_operators(chain, PAIR, OperatorParams(objective="latency"))
    assert (found.latency_s, found.latency_bound_s) == (pytest.approx(12.0), pytest.approx(12.0))


@pytest.mark.slow
def test_many_groups_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contiguous or not."""
    monkeypatch.setattr(operator_search, "FEW", 0)
    monkeypatch.setattr(operator_search, "MANY", 1)
    assert place_operators(DIAMOND, PAIR, OperatorParams()).bottleneck_s == pytest.approx(6.3)
    line = place_operators(DIAMOND, PAIR, OperatorParams(contiguous=True))
    assert line.place is not None
    assert len(line.line) == 2


def test_a_sampler_is_asked() -> None:
    """Its samples are repaired, and the bound is that of every search."""
    found = place_operators(DIAMOND, PAIR, OperatorParams(solver="neal"))
    assert [stage.name for stage in found.stages] == ["uniform", "samples", "bound"]
    assert found.bottleneck_s == pytest.approx(6.3)


def test_what_cannot_be_met_is_told_at_once() -> None:
    """Without a search."""
    found = place_operators(DIAMOND, PAIR, OperatorParams(pinned={"a": "x", "e": "y"}))
    assert (found.place, found.stages, [v.kind for v in found.violations]) == (None, (), ["pinned"])


def test_what_is_too_tight_is_told_after_a_search() -> None:
    """Three groups of 6 bytes and two devices of 10."""
    model = Operators(
        names=tuple("abc"), seconds=np.ones(3), memory_bytes=np.full(3, 6.0), source=np.zeros(0), target=np.zeros(0)
    )
    found = place_operators(model, PAIR, OperatorParams())
    assert found.place is None
    assert [violation.kind for violation in found.violations] == ["memory"]
    assert "18 B in all, do not fit into the 20 B of the devices" in found.violations[0].message


@pytest.mark.slow
def test_the_same_seed_gives_the_same_placement_and_progress_is_told() -> None:
    """Also of a search that is ended at once."""
    told: list[Progress] = []
    first, again = (
        place_operators(DIAMOND, PAIR, OperatorParams(contiguous=True), watch=told.append) for _ in range(2)
    )
    assert first.place is not None
    assert again.place is not None
    assert first.place.tolist() == again.place.tolist()
    assert {progress.stage for progress in told} >= {"uniform", "contiguous", "bound"}
    assert place_operators(DIAMOND, PAIR, OperatorParams(), stop=lambda: True).place is not None


def test_devices_without_a_link_are_what_is_told() -> None:
    """A and b exchange a message and are pinned to devices that cannot; memory is not what lacks."""
    apart = replace(PAIR, link=np.full((2, 2), -1))
    found = place_operators(DIAMOND, apart, OperatorParams(pinned={"a": "x", "b": "y"}))
    assert [violation.kind for violation in found.violations] == ["links"]
    large = replace(apart, memory_bytes=np.full(2, 8.0))
    heavy = replace(DIAMOND, memory_bytes=np.full(5, 3.0))
    assert [violation.kind for violation in place_operators(heavy, large, OperatorParams()).violations] == ["memory"]


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "contiguous"), [(12, False), pytest.param(40, True, marks=pytest.mark.long)])
def test_bug_many_operators_in_few_groups_are_joined(
    monkeypatch: pytest.MonkeyPatch, groups: int, *, contiguous: bool
) -> None:
    """What is found for those that are joined has the same load and bound for all of them."""
    # Twelve groups would be placed exactly, and forty that need not be contiguous are bound in half a minute.
    monkeypatch.setattr(operator_search, "FEW", 0)
    rng, size = np.random.default_rng(0), 2_000
    colour = np.sort(np.append(np.arange(groups), rng.integers(groups, size=size - groups)))
    source = rng.integers(size - 1, size=3 * size)
    graph = Operators(
        names=tuple(map(str, range(size))),
        seconds=rng.uniform(0.5, 1.5, size),
        memory_bytes=np.zeros(size),
        sent_s=rng.uniform(0.01, 0.1, size),
        source=source,
        target=np.minimum(source + rng.geometric(0.02, size=3 * size), size - 1),
        colour=colour,
        backward=np.zeros(size, np.bool_),
    )
    params = OperatorParams(contiguous=contiguous)
    plain = place_operators(graph, PAIR, params)
    monkeypatch.setattr(solve, "MANY", groups)
    incumbents = mock.Mock(side_effect=PlacementIncumbent)
    monkeypatch.setattr(solve, "PlacementIncumbent", incumbents)
    joined = place_operators(graph, PAIR, params)
    assert incumbents.call_args.kwargs["terms"].operators < size
    assert joined.place is not None
    assert plain.bottleneck_s is not None
    assert joined.bottleneck_s == pytest.approx(plain.bottleneck_s, rel=0.01)
    load = np.add(*loads_s(Terms.from_operators(graph, PAIR, {}), joined.place)).max()
    assert joined.bottleneck_s == pytest.approx(float(load))
    assert joined.lower_bound_s == pytest.approx(plain.lower_bound_s, rel=1e-3)
