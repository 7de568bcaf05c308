"""Tests of the one check of options."""

import re
from dataclasses import dataclass, field, replace

import pytest

from tiger.errors import InputError
from tiger.mapping.options import MappingOptions
from tiger.model.checking import check_values
from tiger.model.options import about
from tiger.placement.params import ChainOptions
from tiger.uses import list_uses


def test_both_ends_are_allowed() -> None:
    """And no effort or time limit at all."""
    check_values(MappingOptions(seed=0))
    check_values(MappingOptions(seed=2**63 - 1, effort=1, time_limit_s=1e9))
    check_values(MappingOptions(seed=0, effort=2**63 - 1, time_limit_s=1e-300))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("seed", -1, "a whole number from 0 to 2**63 - 1, got -1"),
        ("seed", True, "a whole number from 0 to 2**63 - 1, got true"),
        ("effort", 0, "a whole number from 1 to 2**63 - 1, got 0"),
        ("effort", 2**63, "a whole number from 1 to 2**63 - 1, got 9223372036854775808"),
        ("islands", 257, "a whole number from 1 to 256, got 257"),
        ("islands", None, "a whole number from 1 to 256, got null"),
        ("nodes", 0, "a whole number from 1 to 2**63 - 1, got 0"),
        ("time_limit_s", 0, "a finite number of seconds > 0, at most 1e+09, got 0"),
        ("time_limit_s", True, "a finite number of seconds > 0, at most 1e+09, got true"),
        ("time_limit_s", float("nan"), "a finite number of seconds > 0, at most 1e+09, got nan"),
        ("time_limit_s", 10**400, "a finite number of seconds > 0, at most 1e+09, got a number of more"),
        ("threshold", 1, "a number from 0 to below 1, got 1"),
        ("threshold", None, "a number from 0 to below 1, got null"),
        ("objective", "beauty", "one of cost, max-link-load, makespan, ring, multicast, got 'beauty'"),
    ],
)
def test_others_are_refused(name: str, value: object, expected: str) -> None:
    """By their name, with what the field says is expected."""
    with pytest.raises(InputError) as caught:
        check_values(MappingOptions(**{name: value}))
    assert caught.value.field == name
    assert caught.value.reason.startswith(f"expected {expected}")


def test_a_bound_that_no_schema_states_is_checked() -> None:
    """No training run has more stages."""
    with pytest.raises(InputError, match="pipeline: expected a whole number from 1 to 65536, got 65537"):
        check_values(ChainOptions(pipeline=65537))


@dataclass(frozen=True, kw_only=True)
class Bounded:
    """Hold options with one bound, both or none."""

    least: float = field(default=1.0, metadata=about("A number.", ge=0))
    between: float = field(default=1.0, metadata=about("A number.", gt=0, lt=5))
    whole: int = 1


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("least", -1.0, "a number of at least 0, got -1.0"),
        ("between", 5.0, "a number above 0, below 5, got 5.0"),
        ("whole", 2**63, "a whole number up to 2**63 - 1, got 9223372036854775808"),
    ],
)
def test_bug_bounds_of_another_form_could_not_be_told(name: str, value: float, expected: str) -> None:
    """Fields state those that they have."""
    with pytest.raises(InputError, match=re.escape(f"{name}: expected {expected}")):
        check_values(replace(Bounded(), **{name: value}))


def test_numbers_are_no_texts() -> None:
    """Another type is an error of the caller's code."""
    with pytest.raises(TypeError, match="time_limit_s: expected a number of seconds, got str"):
        check_values(MappingOptions(time_limit_s="5"))
    with pytest.raises(TypeError, match="threshold: expected a number, got str"):
        check_values(MappingOptions(threshold="0.1"))


def test_the_defaults_of_all_uses_are_allowed() -> None:
    """Of every field that says its bounds, and there are some."""
    assert about("A number.", ge=1) == {"description": "A number.", "ge": 1}
    for use in list_uses():
        required = {
            "tasks",
            "circuit",
            "coupling",
            "model",
            "cluster",
            "trace",
            "measured",
        } & use.call.__dataclass_fields__.keys()
        check_values(use.call(**dict.fromkeys(required, "x")))
