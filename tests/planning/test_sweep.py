"""Tests of plans for several batches."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.planning.params import PlanOptions
from tiger.planning.report import PlanReport
from tiger.planning.summary import plan_summary
from tiger.planning.sweep import check_sweep
from tiger.run.progress import Progress
from tiger.training.hardware.cluster import Cluster

BATCHES = "batch=2,4,6,8,16"
BAD = [
    ("batch=0..4", "expected batches of at least 1, got 0"),
    ("batch=0,4", "expected a whole number"),
    ("size=4", "expected batch=LOW..HIGH or batch=N,N,.., got 'size=4'"),
    ("batch", "expected batch=LOW..HIGH or batch=N,N,.., got 'batch'"),
    ("batch=5..7", "expected a power of two from 5 to 7, got none"),
    ("batch=8..4", "expected a power of two from 8 to 4, got none"),
    ("batch=4,x", "expected whole numbers as batches, got 'x'"),
    ("batch=" + ",".join(map(str, range(1, 34))), "expected at most 32 batches, got 33"),
]


@pytest.fixture(scope="module")
def small(cluster: Cluster) -> Cluster:
    """Return three devices that need more than one for a tiny transformer."""
    return replace(cluster, memory_bytes=np.full(3, 5e6))


@pytest.fixture(scope="module")
def swept(shape: dict[str, object], small: Cluster) -> PlanReport:
    """Return the report of five batches."""
    return tiger.plan(shape, small, sweep=BATCHES)


@pytest.mark.parametrize(
    ("text", "batches"),
    [("batch=4..64", (4, 8, 16, 32, 64)), ("batch=3..9", (4, 8)), ("batch=96,64,96", (64, 96)), ("batch=1..1", (1,))],
)
def test_batches_are_powers_of_two_or_listed(text: str, batches: tuple[int, ...]) -> None:
    """Both ends count, and they rise."""
    assert check_sweep(text, PlanOptions(), 1).batches == batches


@pytest.mark.parametrize(("text", "reason"), BAD)
def test_what_is_no_sweep_is_refused(text: str, reason: str) -> None:
    """By the name of the option."""
    with pytest.raises(InputError) as caught:
        check_sweep(text, PlanOptions(), 1)
    assert caught.value.field == "sweep"
    assert reason in caught.value.reason


def test_a_sweep_goes_without_a_batch_and_with_what_divides_it(shape: dict[str, object], small: Cluster) -> None:
    """Beside `batch` it says too little; a batch that replicas cannot share is no plan's."""
    with pytest.raises(InputError, match="sweep: expected no batch beside it, got 4"):
        tiger.plan(shape, small, sweep="batch=2..4", batch=4)
    with pytest.raises(InputError, match="sweep: expected a multiple of 2"):
        tiger.plan(shape, small, sweep="batch=2,3", data=2)
    with pytest.raises(InputError, match="workers"):
        tiger.plan(shape, small, sweep="batch=2,4", workers=0)


def test_every_batch_is_planned_as_well_as_alone(swept: PlanReport, shape: dict[str, object], small: Cluster) -> None:
    """No plan of a sweep takes longer than that of its batch alone."""
    assert [each.batch for each in swept.sweep] == [2, 4, 6, 8, 16]
    for each in swept.sweep:
        alone = tiger.plan(shape, small, batch=each.batch)
        assert each.iteration_s is not None
        assert alone.iteration_s is not None
        assert each.iteration_s <= alone.iteration_s * (1 + 1e-12)
        assert each.lower_bound_s <= each.iteration_s


def test_the_batch_with_most_throughput_is_reported(swept: PlanReport) -> None:
    """With its degrees, and a table of all batches before it; documents have it all."""
    best = max(swept.sweep, key=lambda each: each.batch_per_s)
    assert (swept.batch, swept.iteration_s, swept.degrees) == (best.batch, best.iteration_s, best.degrees)
    assert best.tokens_per_s == pytest.approx(32 * best.batch_per_s)
    assert plan_summary(swept).startswith("batch  PP x TP x DP")
    assert f"\nbatch {best.batch}\nplanned: " in plan_summary(swept)
    assert PlanReport.from_dict(swept.to_dict()).sweep == swept.sweep


def test_a_batch_without_a_plan_is_a_row(shape: dict[str, object], cluster: Cluster) -> None:
    """Nothing fits into so little memory, which is an answer."""
    report = tiger.plan(shape, replace(cluster, memory_bytes=np.full(3, 1e3)), sweep="batch=2,4")
    assert [(each.batch, each.feasible, each.iteration_s) for each in report.sweep] == [
        (2, False, None),
        (4, False, None),
    ]
    assert plan_summary(report).startswith("batch  PP x TP x DP")


def test_messages_name_the_batch_and_the_answer_does_not_depend_on_who_plans(
    swept: PlanReport, shape: dict[str, object], small: Cluster
) -> None:
    """An executor of two threads finds what one process does."""
    seen: list[Progress] = []
    again = tiger.plan(shape, small, sweep="batch=2,4", progress=seen.append)
    assert {each.message.partition(":")[0] for each in seen if each.stage == "bounds"} == {"batch 2", "batch 4"}
    with ThreadPoolExecutor(2) as pool:
        other = tiger.plan(shape, small, sweep=BATCHES, executor=pool)
    assert [replace(each, seconds=0.0) for each in other.sweep] == [replace(each, seconds=0.0) for each in swept.sweep]
    assert len(again.sweep) == 2


@pytest.mark.long
def test_workers_find_what_one_process_does(swept: PlanReport, shape: dict[str, object], small: Cluster) -> None:
    """Two processes, whose messages arrive."""
    seen: list[Progress] = []
    other = tiger.plan(shape, small, sweep=BATCHES, workers=2, progress=seen.append)
    assert [replace(each, seconds=0.0) for each in other.sweep] == [replace(each, seconds=0.0) for each in swept.sweep]
    assert any(each.message.startswith("batch 16") for each in seen)


def test_workers_plan_sweeps_alone(shape: dict[str, object], small: Cluster) -> None:
    """One batch is planned in one process."""
    with pytest.raises(InputError, match="workers: expected 1 without sweep, got 3"):
        tiger.plan(shape, small, batch=4, workers=3)


def test_a_plan_given_goes_with_all_batches(shape: dict[str, object], small: Cluster) -> None:
    """It is read before anything is planned, and the sweep is named, as no batch was given."""
    with pytest.raises(InputError, match="sweep: expected a multiple of 3"):
        tiger.plan(shape, small, sweep="batch=4,6", given="pp=3,mbs=3")


@pytest.mark.slow
def test_bug_faults_of_who_watches_were_lost_among_workers(shape: dict[str, object], small: Cluster) -> None:
    """They come back where the workers have ended."""

    def fail(progress: Progress) -> None:
        if (progress.message or "").startswith("batch"):
            raise RuntimeError("seen enough")

    with pytest.raises(RuntimeError, match="seen enough"):
        tiger.plan(shape, small, sweep="batch=4,8", workers=2, progress=fail)
