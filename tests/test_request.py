"""Tests of what a caller may ask of a solve."""

import time

import dimod
import numpy as np
import pytest

from tiger.errors import InputError
from tiger.request import Request


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


@pytest.mark.parametrize("bad", [0, 0.0, -1.5, float("inf"), float("nan"), True], ids=repr)
def test_bad_time_limits_are_refused(bad):
    """Tests values that are no time."""
    with pytest.raises(InputError, match="seconds > 0") as error:
        Request(time_limit_s=bad)
    assert error.value.field == "time_limit_s"


def test_huge_whole_numbers_are_named_without_their_digits():
    """Tests a value whose digits Python refuses to print."""
    with pytest.raises(InputError, match="got a much larger number") as error:
        Request(effort=10**5000)
    assert len(str(error.value)) < 120


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


def test_sampler_objects_are_accepted_and_others_are_not():
    """Tests the name of a sampler, and the type error for what has no sample method."""
    assert Request(solver=dimod.ExactSolver()).name == "ExactSolver"
    with pytest.raises(TypeError, match="expected a name or a dimod sampler, got int"):
        Request(solver=7)
