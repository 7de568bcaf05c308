"""Tests of what a caller may ask of a solve."""

import time

import dimod
import numpy as np
import pytest

from tiger.errors import InputError
from tiger.mapping.request import Request
from tiger.qubo.params import IsingParams, Sampling


def test_defaults_ask_for_one_unit_of_everything_left_open():
    """Tests a request without any wish."""
    request = Request()
    assert (request.name, request.seed, request.effort, request.time_limit_s) == ("auto", 0, None, None)
    assert (request.executor, request.deadline_s) == (None, None)


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
@pytest.mark.parametrize("effort", [None, 1, 2**63 - 1])
def test_the_whole_range_is_accepted(seed, effort):
    """Tests the ends of seed and effort."""
    request = Request(seed=seed, effort=effort)
    assert (request.seed, request.effort) == (seed, effort)


@pytest.mark.parametrize("bad", [-1, 2**63, 1.0, "1", None, True, np.int64(3)], ids=repr)
def test_bad_seeds_are_refused(bad):
    """Tests values out of range and other types, a bool and a numpy number among them."""
    with pytest.raises(InputError, match="whole number from 0") as error:
        Request(seed=bad)
    assert error.value.field == "seed"


@pytest.mark.parametrize("bad", [0, -5, 2**63, 2.0, "4", False], ids=repr)
def test_bad_efforts_are_refused(bad):
    """Tests values out of range and other types."""
    with pytest.raises(InputError, match="whole number from 1") as error:
        Request(effort=bad)
    assert error.value.field == "effort"


@pytest.mark.parametrize("bad", [0, 257, 2.0, "4", True, None], ids=repr)
def test_bad_islands_are_refused(bad):
    """Tests values out of range and other types."""
    with pytest.raises(InputError, match="whole number from 1 to 256") as error:
        Request(islands=bad)
    assert error.value.field == "islands"


@pytest.mark.parametrize("solver", ["greedy", "exact", "identity", "neal"])
def test_islands_are_refused_where_they_would_do_nothing(solver):
    """Tests solvers that have no seed, and a sampler."""
    with pytest.raises(InputError, match="only the solvers auto, search, random") as error:
        Request(solver=solver, islands=2)
    assert error.value.field == "islands"
    assert Request(solver=solver, islands=1).islands == 1


@pytest.mark.parametrize("bad", [0, 0.0, -1.5, float("inf"), float("nan"), True], ids=repr)
def test_bad_time_limits_are_refused(bad):
    """Tests values that are no time."""
    with pytest.raises(InputError, match="seconds > 0") as error:
        Request(time_limit_s=bad)
    assert error.value.field == "time_limit_s"


def test_huge_whole_numbers_are_named_without_their_digits():
    """Tests a value whose digits Python refuses to print."""
    with pytest.raises(InputError, match="got a number of more than 60 digits") as error:
        Request(effort=10**5000)
    assert len(str(error.value)) < 120


def test_an_end_can_be_put_off():
    """Tests a request with a time limit and one without."""
    request = Request(time_limit_s=5)
    assert request.deadline(60).at_s == request.deadline_s + 60
    assert Request().deadline(60).at_s is None


def test_a_time_limit_sets_the_deadline():
    """Tests that the clock runs from construction."""
    before = time.monotonic()
    request = Request(time_limit_s=5)
    assert before + 5 <= request.deadline_s <= time.monotonic() + 5


def test_unknown_solvers_are_refused():
    """Tests a name that nobody registered."""
    with pytest.raises(InputError, match="got 'quantum'") as error:
        Request(solver="quantum")
    assert error.value.field == "solver"


@pytest.mark.parametrize("bad", ["latency", "", None, 7, ["cost"]], ids=repr)
def test_unknown_objectives_are_refused(bad):
    """Tests names that nobody knows, and other types."""
    with pytest.raises(InputError, match="expected one of cost, max-link-load, makespan") as error:
        Request(objective=bad)
    assert error.value.field == "objective"


def test_the_cost_has_half_of_the_time_where_another_objective_follows():
    """Tests both deadlines."""
    assert Request(time_limit_s=8).cost_deadline.at_s == pytest.approx(Request(time_limit_s=8).deadline_s, abs=1)
    shared = Request(time_limit_s=8, objective="makespan")
    assert shared.cost_deadline.at_s == shared.deadline_s - 4
    assert Request(objective="makespan").cost_deadline.at_s is None


def test_sampler_objects_are_accepted_and_others_are_not():
    """Tests the name of a sampler, and the type error for what has no sample method."""
    assert Request(solver=dimod.ExactSolver()).name == "ExactSolver"
    with pytest.raises(TypeError, match="expected a name or a dimod sampler, got 7"):
        Request(solver=7)


def test_options_of_the_ising_path_are_its_own_type():
    """Tests the default, and that a plain mapping is a programming error."""
    assert Request().ising == IsingParams()
    assert Request(ising=IsingParams(penalty_scale=0.5)).ising.penalty_scale == 0.5
    with pytest.raises(TypeError, match="ising: expected IsingParams, got dict"):
        Request(ising={"penalty_scale": 0.5})


@pytest.mark.parametrize(
    ("options", "field"),
    [
        *(({"penalty_scale": bad}, "penalty_scale") for bad in (0, -1.0, float("nan"), float("inf"), "1", True)),
        *(({"penalty_scale": bad}, "penalty_scale") for bad in (1e10, 1e-10, 10**400)),
        *(({"beta_range": bad}, "beta_range") for bad in ((1, 0.5), (0, 1), (1, float("inf")), (1, float("nan")))),
        *(({"beta_range": bad}, "beta_range") for bad in ((1,), (1, 2, 3), 2.0, "12", ("1", "2"), (True, 2), {1, 2})),
        *(({"capacity": bad}, "capacity") for bad in ("none", "", None, ["slack"])),
        *(({name: 0}, name) for name in ("whole_variables", "window_size", "passes", "windows")),
        *(({"passes": bad}, "passes") for bad in (-1, 1.0, True, "2", None)),
        ({"starts": -1}, "starts"),
        ({"whole": Sampling(rounds=0, reads=1, sweeps=1)}, "whole/rounds"),
        ({"window": Sampling(rounds=1, reads=0, sweeps=1)}, "window/reads"),
        ({"window": Sampling(rounds=1, reads=1, sweeps=0)}, "window/sweeps"),
    ],
)
def test_bad_options_of_the_ising_path_are_refused(options, field):
    """Tests values out of range and other types."""
    with pytest.raises(InputError, match="expected") as error:
        IsingParams(**options)
    assert error.value.field == f"ising/{field}"
    assert len(str(error.value)) < 160


@pytest.mark.parametrize("beta_range", [(0.1, 2.0), (1, 1), [0.1, 2.0]])
def test_temperatures_run_from_hot_to_cold(beta_range):
    """Tests a pair, equal ends, and that a list becomes a tuple."""
    assert IsingParams(beta_range=beta_range).beta_range == tuple(beta_range)


@pytest.mark.parametrize("scale", [1e-9, 0.3, 1, 1e9])
def test_penalties_may_have_any_sensible_scale(scale):
    """Tests both ends of the range."""
    assert IsingParams(penalty_scale=scale).penalty_scale == scale


def test_classes_and_samplers_without_parameters_are_refused():
    """Tests what passes for a sampler only at first sight."""

    class Silent:
        parameters = None

        def sample(self, bqm):
            """Do nothing."""

    with pytest.raises(TypeError, match=r"pass RandomSampler\(\)"):
        Request(solver=dimod.RandomSampler)
    with pytest.raises(TypeError, match="parameters"):
        Request(solver=Silent())
