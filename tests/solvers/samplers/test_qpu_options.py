"""Tests of what a QPU can be asked beside a model, on the properties of D-Wave's own mock."""

import pytest

pytest.importorskip("dwave.system")

from dwave.cloud.testing.mocks import qpu_problem_timing_data
from dwave.system.testing import MockDWaveSampler

from tiger.errors import InputError
from tiger.solvers.samplers.qpu_options import check_options, estimate_us, starts_from_mapping

MACHINE = MockDWaveSampler(topology_type="zephyr", topology_shape=[2, 4])
TIMED = {"problem_timing_data": qpu_problem_timing_data()}
REVERSE = [[0, 1], [10, 0.45], [20, 1]]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"annealing_time": 0.5, "label": "a window", "auto_scale": False},
        {"fast_anneal": True, "annealing_time": 0.01},
        {"anneal_schedule": [[0, 0], [10.0, 0.5], [2000, 1]]},
        {"anneal_schedule": REVERSE, "initial_state": "mapping", "reinitialize_state": True},
        {"chain_strength": 2.5},
        {"torque": 1, "num_reads": 10_000, "readout_thermalization": 0},
    ],
)
def test_what_the_machine_takes_passes(options):
    """Tests values at the ends of the ranges that it publishes."""
    check_options(options, MACHINE.parameters, MACHINE.properties)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("anneal_schedule", [[0, 0.5], [20, 1]], "s being 0 or 1 at first"),
        ("initial_state", "mapping", "a schedule beside it that begins at s = 1"),
        ("chain_strength", 10**400, "above 0"),
        ("annealing_time", 0.01, "microseconds from 0.5 to 2000"),
        ("annealing_time", "20", "microseconds from 0.5 to 2000"),
        ("readout_thermalization", -1, "microseconds from 0 to 10000"),
        ("anneal_schedule", [[0, 0], [3000, 1]], "microseconds from 0.5 to 2000"),
        ("anneal_schedule", [[k, k / 12] for k in range(13)], "at most 12 points"),
        ("anneal_schedule", [[0, 0], [20, 0.5]], "1 at last"),
        ("anneal_schedule", [[1, 0], [20, 1]], "rising times from 0"),
        ("anneal_schedule", [[0, 0], [20, 1.5], [30, 1]], "then from 0 to 1"),
        ("anneal_schedule", "20", "points [time, s]"),
        ("anneal_schedule", [], "points [time, s]"),
        ("num_reads", 10_001, "1 to 10000"),
        ("auto_scale", 1, "true or false"),
        ("label", 3, "a text"),
        ("initial_state", [1, -1], "'mapping'"),
        ("chain_strength", 0, "above 0"),
        ("torque", float("inf"), "above 0"),
        ("answer_mode", "histogram", "left out"),
        ("num_sweeps", 3, "expected one of anneal_offsets"),
    ],
)
def test_what_it_does_not_take_is_named(name, value, wanted):
    """Tests that the field is that of the option, and that the published range is stated."""
    with pytest.raises(InputError, match=r".") as caught:
        check_options({name: value}, MACHINE.parameters, MACHINE.properties)
    assert caught.value.field == f"ising/sampler/{name}"
    assert wanted in caught.value.reason


def test_a_time_beside_a_schedule_is_refused():
    """Tests that the machine would take one of both."""
    with pytest.raises(InputError, match="ising/sampler/annealing_time: expected none beside a schedule"):
        check_options({"annealing_time": 20, "anneal_schedule": REVERSE}, MACHINE.parameters, MACHINE.properties)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, False),
        ({"anneal_schedule": REVERSE}, True),
        ({"anneal_schedule": [[0, 0], [20, 1]]}, False),
        ({"initial_state": "mapping"}, True),
        *(({"anneal_schedule": odd}, False) for odd in ([], [1], ["a"], [[0]], "x")),
    ],
)
def test_reverse_annealing_starts_from_the_mapping(options, expected):
    """Tests that a schedule that begins at its end needs a state to begin with."""
    assert starts_from_mapping(options) is expected


def test_times_follow_the_formula_of_the_machine():
    """Tests an Advantage system's figures: programming, then anneal, delay and readout for each read."""
    short, long = (estimate_us(TIMED, 144, {"num_reads": 100, "annealing_time": each}) for each in (20, 120))
    assert long - short == pytest.approx(100 * 100)
    assert estimate_us(TIMED, 144, {"num_reads": 100}) == short
    assert 14072.88 + 1000 + 100 * (20 + 20.54 + 100) < short < 14072.88 + 1000 + 100 * (20 + 20.54 + 250)


@pytest.mark.parametrize("timing", [None, {"version": "2.0.0"}])
def test_a_machine_that_publishes_no_times_has_no_estimate(timing):
    """Tests none, and one of a kind that D-Wave's software does not know."""
    assert estimate_us({"problem_timing_data": timing}, 144, {"num_reads": 1}) is None
