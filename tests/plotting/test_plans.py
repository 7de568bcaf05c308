"""Tests of the picture of plans."""

from pathlib import Path

from tiger.planning.breakdown import Breakdown
from tiger.planning.report import Degrees, PlanReport, RankedPlan
from tiger.plotting.picturefile import write_figure
from tiger.plotting.plans import draw_plans


def rank(pipeline: int, waiting: float) -> RankedPlan:
    """Return a plan of 10 s and what it waits."""
    return RankedPlan(
        degrees=Degrees(
            pipeline=pipeline,
            tensor=1,
            data=1,
            schedule="interleaved",
            virtual=2,
            microbatches=4,
            microbatch=1 if pipeline > 1 else None,
        ),
        iteration_s=10 + waiting,
        memory_share=0.5,
        bubble=0.1,
        breakdown=Breakdown(compute_s=7.0, tensor_s=1.0, messages_s=1.0, gradients_s=1.0, waiting_s=waiting),
        bound_s=9.0,
        searched=True,
        tokens_per_s=None,
        why="the quickest",
    )


def report_of(*plans: RankedPlan) -> PlanReport:
    """Return a report of plans, the last of which is the usual one."""
    return PlanReport(
        feasible=bool(plans),
        batch=4,
        seed=0,
        seconds=0.0,
        ranked=plans,
        heuristic=plans[-1] if plans else None,
        lower_bound_s=9.0 if plans else None,
    )


def test_every_plan_and_part_is_named(tmp_path: Path) -> None:
    """With its degrees, its time and its memory."""
    path = tmp_path / "plans.svg"
    write_figure(draw_plans(report_of(rank(2, 1.0), rank(1, 3.0))), path)
    text = path.read_text()
    for words in ("PP 2 TP 1 DP 1, interleaved x 2, 4 of 1", "usual: PP 1 TP 1 DP 1", "11 s, 50% of memory", "waiting"):
        assert f"<!-- {words}" in text or f" {words} " in text
