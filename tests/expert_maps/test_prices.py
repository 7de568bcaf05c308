"""Tests of `tiger.experts` with prices, replicas, groups, loads alone, and a map in use."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.expert_maps.maps.formats import FILES, read_map
from tiger.expert_maps.report import ExpertReport

PAIR = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}
# Two machines of two devices, the links between which carry a tenth.
NODES = {
    "devices": [{"name": name, "machine": name[0]} for name in ("a0", "a1", "b0", "b1")],
    "uniform_bandwidth": 1e8,
    "links": [{"a": "a0", "b": "a1", "bandwidth": 1e9}, {"a": "b0", "b": "b1", "bandwidth": 1e9}],
}
PRICES = {"token_s": 1e-6, "token_bytes": 1000.0}
LOADS = np.array([[9.0, 1, 1, 1], [1, 1, 1, 9]])
IN_USE = np.array([[0, 1, 2, 3, 1, 2]] * 2)


def draw_trace(tokens: int = 400, layers: int = 4, experts: int = 8, seed: int = 0) -> np.ndarray:
    """Return choices that depend on those before, of experts with skewed loads."""
    rng = np.random.default_rng(seed)
    trace = rng.choice(experts, (tokens, layers), p=(odds := 1.0 / np.arange(1, experts + 1)) / odds.sum())
    for layer in range(1, layers):
        stay = rng.random(tokens) < 0.5
        trace[stay, layer] = (trace[stay, layer - 1] + 3) % experts
    return trace


def ask(**changes: Any) -> ExpertReport:
    """Place eight experts by a trace on two machines, with prices."""
    return tiger.experts(**{"trace": draw_trace(), "cluster": NODES, "experts": 8, **PRICES, **changes})


def ask_loads(**changes: Any) -> ExpertReport:
    """Balance four experts with two replicas on two devices."""
    return tiger.experts(**{"trace": LOADS, "cluster": PAIR, "kind": "loads", "replicas": 2, **changes})


@pytest.mark.slow
def test_a_step_is_priced_as_it_is_documented() -> None:
    """Largest loads in seconds, and transitions over links as a mean over devices, each pair of replicas alike."""
    report = ask(replicas=4, held_out=0.0, step_tokens=800.0)
    trace, slots = draw_trace(), np.array(report.slots)
    devices = [[np.flatnonzero(row == e) // 3 for e in range(8)] for row in slots]
    load, links = np.zeros((4, 4)), 0.0
    rates = np.where(np.arange(4)[:, None] // 2 == np.arange(4) // 2, 1e9, 1e8)
    for token in trace:
        for layer, e in enumerate(token):
            load[layer, devices[layer][e]] += 2 / len(devices[layer][e])
            if layer:
                pairs = [(g, h) for g in devices[layer - 1][token[layer - 1]] for h in devices[layer][e]]
                links += 2 * np.mean([0 if g == h else 1000 / rates[g, h] for g, h in pairs]) / 4
    assert report.objective.after.load == pytest.approx(1e-6 * load.max(axis=1).sum())
    assert report.objective.after.links == pytest.approx(links)
    assert np.array(report.loads.after) == pytest.approx(load)


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"replicas": 4, "groups": 4}, {"replicas": 8, "duplicates": 2}])
def test_one_objective_is_below_each_part_alone(changes: dict[str, Any]) -> None:
    """Of loads, by their map, and of transitions, by theirs; the bound is below it."""
    made = ask(**changes).objective
    other = ask(**changes, token_bytes=None)
    in_use = np.array(other.slots)
    assert made.bound.total <= made.after.total <= ask(**changes, in_use=in_use).objective.before.total * (1 + 1e-9)
    assert made.after.total < made.before.total
    assert made.bound.load == pytest.approx(other.objective.bound.load)


def test_groups_stay_on_a_machine() -> None:
    """In every layer, with their replicas."""
    report = ask(replicas=4, groups=4)
    for row in report.slots:
        first, second = ({expert // 2 for expert in row[k : k + 6]} for k in (0, 6))
        assert not first & second


def test_loads_alone_count_tokens() -> None:
    """And are balanced: 6 a device and layer is what there is."""
    report = ask_loads()
    assert (report.objective.unit, report.objective.after.total, report.optimal) == ("tokens", 12, True)
    assert report.loads.after == ((6, 6), (6, 6))
    assert (report.placed, report.top_k, report.tokens, report.verdict) == (None, None, 0, None)
    assert report.headline.startswith("solved: 12 tokens of largest loads a step, 16 tokens")
    assert [row.load for row in report.rows] == [12, 12]


def test_a_change_that_pays_is_advised() -> None:
    """With the map to move to, its moves, and when they are paid."""
    report = ask_loads(in_use=IN_USE, token_s=1e-3, expert_bytes=1e6)
    verdict = report.verdict
    assert verdict is not None
    assert (verdict.advice, verdict.moves, verdict.move_s) == ("move", 3, pytest.approx(2e-3))
    assert verdict.gain_s == pytest.approx(8e-3)
    assert verdict.break_even_steps == pytest.approx(0.25)
    assert report.objective.after.moves == pytest.approx(3e-3 / 2 / 1000)
    assert ExpertReport.from_dict(report.to_dict()).to_dict() == report.to_dict()


@pytest.mark.parametrize(
    "changes",
    [
        {"expert_bytes": 1e12, "token_s": 1e-3},
        {"threshold": 0.9},
        {"most_moves": 0},
        {"in_use": [[0, 1, 2, 0, 3, 2], [3, 0, 1, 3, 2, 1]]},
    ],
)
def test_a_change_that_does_not_pay_is_not(changes: dict[str, Any]) -> None:
    """For its moves, its small gain, a cap, or as there is none: the map in use stays."""
    in_use = np.array(changes.get("in_use", IN_USE))
    report = ask_loads(**changes | {"in_use": in_use})
    assert report.verdict is not None
    assert (report.verdict.advice, report.slots) == ("keep", tuple(map(tuple, in_use.tolist())))
    assert report.objective.before == report.objective.after
    assert report.headline == f"keep: {report.verdict.reason}"


def test_seconds_are_left_out_where_nothing_is_in_seconds() -> None:
    """Of hops and tokens."""
    verdict = ask_loads(in_use=IN_USE).verdict
    assert verdict is not None
    assert (verdict.gain_s, verdict.move_s, verdict.gain) == (None, None, pytest.approx(0.4))
    hops = ask(token_s=None, token_bytes=None, in_use=np.array([range(8)] * 4))
    assert (hops.objective.unit, hops.verdict is None) == ("hops", False)


@pytest.mark.parametrize("system", FILES)
def test_maps_are_read_back_from_files(tmp_path: Path, system: str) -> None:
    """Of every system, as the map in use."""
    report = ask_loads(replicas=0 if system == "exflow" else 2)
    path = tmp_path / FILES[system]
    path.write_bytes(report.emit(system))
    assert np.array_equal(read_map(path, 2, 4).phy2log, report.slots)
    again = ask_loads(replicas=report.replicas, in_use=path).verdict
    assert again is not None
    assert again.advice == "keep"


@pytest.mark.slow
def test_the_same_seed_has_the_same_answer() -> None:
    """With all parts."""
    asked = {"replicas": 4, "in_use": np.array([[*range(8), *range(4)]] * 4), "expert_bytes": 1e3}
    first, second = (ask(**asked) for _ in range(2))
    assert (first.slots, first.objective) == (second.slots, second.objective)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "graph"}, "kind: expected one of trace, loads, got 'graph'"),
        ({"replicas": 3}, "replicas: expected a multiple of the 4 accelerators with the 8 experts, got 3"),
        ({"replicas": -4}, "replicas: expected a whole number from 0 to 2**63 - 1, got -4"),
        ({"replicas": 28}, "replicas: expected at most 8 slots a device for 8 experts and 1 of each, got 9"),
        ({"replicas": 4096}, "replicas: expected at most 4096 slots a layer"),
        ({"replicas": 12, "groups": 2}, "replicas: expected at most 4 slots a device for 4 experts of a machine"),
        ({"groups": 3}, "groups: expected a divisor of the 8 experts, got 3"),
        ({"groups": 1}, "groups: expected a multiple of the 2 machines, got 1"),
        ({"duplicates": 0}, "duplicates: expected a whole number from 1 to 2**63 - 1, got 0"),
        ({"steps": 1.5}, "steps: expected a whole number from 1 to 2**63 - 1, got 1.5"),
        ({"token_s": 0}, "token_s: expected a number above 0"),
        ({"token_bytes": float("nan")}, "token_bytes: expected a number above 0"),
        ({"threshold": None}, "threshold: expected a number of at least 0"),
        ({"reserved_bytes": 1.0}, "reserved_bytes: expected expert_bytes beside it, got none"),
        ({"reserved_bytes": -1.0}, "reserved_bytes: expected a number of at least 0"),
        ({"slots_by": "speed", "groups": 2}, "slots_by: expected no groups beside it"),
        ({"slots_by": "speed", "in_use": np.array([range(8)] * 4)}, "slots_by: expected no map in_use beside it"),
        ({"slots_by": "memory"}, "slots_by: expected one of device, speed, got 'memory'"),
        ({"most_moves": 1}, "most_moves: expected the map in_use beside it, got none"),
        ({"in_use": np.zeros((4, 8), int)}, "in_use/0: expected a slot for every expert, got none for 1"),
        ({"in_use": np.zeros((4, 9), int)}, "in_use: expected whole numbers of shape (4, 8)"),
        ({"in_use": "map.txt"}, "in_use: expected a file ending in .npz, .csv or .json"),
        ({"kind": "loads", "trace": LOADS, "token_bytes": None}, "experts: expected 4, those of the loads, got 8"),
        ({"kind": "loads", "trace": LOADS}, "token_bytes: expected a trace beside it, got loads alone"),
    ],
)
def test_bad_values_are_named(changes: dict[str, Any], message: str) -> None:
    """By the field."""
    with pytest.raises(InputError) as caught:
        ask(**changes)
    assert str(caught.value).startswith(message)


def test_bug_prices_far_apart_are_finite_in_tokens() -> None:
    """Moves that cost more tokens than there are numbers for gave warnings of numpy."""
    prices = {"token_s": 1e-300, "expert_bytes": 1e18, "steps": 1}
    for most in (None, 1):
        report = ask_loads(in_use=IN_USE, most_moves=most, **prices)
        assert report.verdict is not None
        assert report.verdict.advice == "keep"


def test_other_types_are_refused() -> None:
    """Of a map in use."""
    with pytest.raises(TypeError, match="expected in_use as an array or a path, got list"):
        ask(in_use=[[0]])
