"""Reports of placements as a person reads them."""

from dataclasses import replace

import pytest

from tiger.objective import Violation
from tiger.pipeline.doors.report import PlacedStage, PlacementReport
from tiger.report import Stage
from tiger.summary import placement_summary

STAGE = PlacedStage(
    device="x",
    devices=(("x",),),
    ops=("a", "b"),
    compute_s=0.003,
    communication_s=0.0,
    memory_bytes=2e9,
    capacity_bytes=None,
)
REPORT = PlacementReport(feasible=True, solver="auto", seed=1, seconds=0.5, stages=(STAGE,), bottleneck_s=0.003)


def test_a_uniform_split_that_does_not_run_is_said_to() -> None:
    """There is no gain to be named."""
    for uniform in (None, float("inf")):
        out = placement_summary(replace(REPORT, uniform_bottleneck_s=uniform))
        assert out.startswith("solved: bottleneck 3 ms; as many layers in every stage do not run here\n")


@pytest.mark.parametrize(
    ("uniform", "headline"),
    [
        (0.006, "solved: bottleneck 3 ms, 2.00x as fast as the 6 ms of the uniform split\n"),
        (0.003, "solved: bottleneck 3 ms, as with the uniform split\n"),
        (0.002, "solved: bottleneck 3 ms; the uniform split of 2 ms does not meet what is asked\n"),
    ],
)
def test_the_headline_compares_with_the_uniform_split(uniform: float, headline: str) -> None:
    """Which may be faster where it does not fit into memory."""
    assert placement_summary(replace(REPORT, uniform_bottleneck_s=uniform)).startswith(headline)


def test_groups_are_named_by_their_first_device() -> None:
    """And counted; a single layer has one number."""
    wide = replace(STAGE, devices=(("x", "y"), ("z", "w")), ops=("a",))
    out = placement_summary(replace(REPORT, stages=(wide, STAGE)))
    assert "\n0      x and 3 more  0 (1)     3           0                 2\n" in out
    assert "\n1      x             1..2 (2)  3           0                 2\n" in out


def test_many_stages_are_not_all_listed() -> None:
    """The report has them."""
    out = placement_summary(replace(REPORT, stages=(STAGE,) * 42))
    assert "and 2 more stages; --json has them all\n" in out
    assert "\n40 " not in out


def test_warnings_steps_and_virtual_stages_are_shown() -> None:
    """On lines of their own."""
    steps = (Stage(name="chain", cost=0.003, seconds=0.1),)
    out = placement_summary(replace(REPORT, virtual=2, warnings=("odd\x1b",), progress=steps))
    assert "virtual stages       2\n" in out
    assert "warning: odd\\x1b\n" in out
    assert "chain  0.003         0.100" in out


def test_a_plan_that_violates_something_says_so_first() -> None:
    """With its stages all the same."""
    out = placement_summary(replace(REPORT, feasible=False, violations=(Violation(kind="memory", message="m"),)))
    assert out.startswith("infeasible: no placement meets\n  memory: m\n\nbottleneck 3 ms;")
