"""Reports of placements as a person reads them."""

from dataclasses import replace

import pytest

from tiger.model.violation import Violation
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.stage import PlacedStage
from tiger.placement.entry.summary import placement_summary
from tiger.run.stage import Stage

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


def test_groups_are_named_in_short() -> None:
    """Replicas are apart, and how many devices are for what is said once; a single layer has one number."""
    wide = replace(STAGE, devices=(("g0", "g1"), ("h0", "h1")), ops=("a",))
    out = placement_summary(replace(REPORT, stages=(wide, STAGE)))
    assert "devices a stage      4: tensor 2 x data 2\n" in out
    assert "\n0      g0-1; h0-1  0 (1)     3           0                 2 GB\n" in out
    assert "\n1      x           1..2 (2)  3           0                 2 GB\n" in out


def test_memory_has_the_unit_that_suits_it() -> None:
    """A small model on a large device."""
    small = replace(STAGE, memory_bytes=155e3, capacity_bytes=80e9)
    assert "155 kB of 80 GB\n" in placement_summary(replace(REPORT, stages=(small,)))


def test_a_uniform_split_that_does_not_fit_is_no_gain() -> None:
    """However slow it is."""
    report = replace(REPORT, uniform_bottleneck_s=0.006, uniform_feasible=False)
    headline = "solved: bottleneck 3 ms; the uniform split of 6 ms does not meet what is asked\n"
    assert placement_summary(report).startswith(headline)


def test_what_is_open_is_not_called_infeasible() -> None:
    """No plan was found, and none is proved impossible."""
    open_yet = replace(REPORT, feasible=False, stages=(), violations=(Violation(kind="undecided", message="m"),))
    assert placement_summary(open_yet) == "no placement found\n  undecided: m\n\n"


def test_bug_a_likely_slip_was_not_named_where_nothing_fits() -> None:
    """It may be why nothing fits."""
    unmet = replace(REPORT, feasible=False, stages=(), violations=(Violation(kind="memory", message="m"),))
    said = placement_summary(replace(unmet, warnings=("did you mean '80GB'?",)))
    assert said == "infeasible: no placement meets\n  memory: m\n\nwarning: did you mean '80GB'?\n"


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


def test_operators_are_counted_by_device() -> None:
    """Never named, as there may be very many; what a device takes is its load."""
    stage = replace(STAGE, ops=("a",) * 200_000, communication_s=0.001, capacity_bytes=4e9)
    report = replace(REPORT, mode="dag", objective="throughput", stages=(stage, STAGE))
    out = placement_summary(report)
    assert "\nobjective            throughput\noperators            200002 on 2 devices\n" in out
    assert "\ndevice  operators  compute ms  communication ms  load ms  memory\n" in out
    assert "\nx       200,000    3           1                 4        2 GB of 4 GB\n" in out
    assert len(out) < 2000


def test_a_makespan_stands_beside_its_bound() -> None:
    """There is no uniform split to compare it with."""
    report = replace(REPORT, mode="dag", objective="latency", latency_s=0.008, latency_bound_s=0.004)
    out = placement_summary(report)
    assert out.startswith("solved: latency 8 ms, and no placement below 4 ms\n")
    assert "\nlatency              8 ms\n  lower bound        4 ms\n" in out


def test_operators_that_no_uniform_split_runs() -> None:
    """In words of their own."""
    out = placement_summary(replace(REPORT, mode="dag", objective="throughput"))
    assert out.startswith("solved: bottleneck 3 ms; as many operators on every device do not run here\n")
