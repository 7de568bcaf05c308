"""Tests of the schedule of tasks on simulated workers."""

import pytest

from benchmarks.islands import Batch, Recorder, critical_path, multiply, speed_up

BATCHES = [Batch(1.0, (3.0, 2.0, 2.0)), Batch(0.5, (4.0,)), Batch(0.25, ())]


@pytest.mark.parametrize(("workers", "seconds"), [(1, 12.75), (2, 9.75), (3, 8.75), (64, 8.75)])
def test_tasks_wait_for_a_worker_and_rounds_for_their_tasks(workers: int, seconds: float) -> None:
    """The first free worker takes the next task, and a round begins when the one before has ended."""
    assert critical_path(BATCHES, workers) == seconds


def test_more_islands_repeat_what_was_measured() -> None:
    """In turn; what a solve does by itself stays."""
    assert multiply(BATCHES, 4) == [Batch(1.0, (3.0, 2.0, 2.0, 3.0)), Batch(0.5, (4.0,) * 4), Batch(0.25, ())]


def test_more_workers_end_many_islands_sooner_up_to_what_is_done_alone() -> None:
    """Sixty-four tasks of two seconds and one second beside them."""
    assert [speed_up([Batch(1.0, (2.0,))], workers) for workers in (1, 16, 64)] == [1.0, 129 / 9, 43.0]


def test_calls_are_made_in_order_and_noted() -> None:
    """Each call is a task of its batch, and what is done between them is noted too."""
    recorder = Recorder()
    assert list(recorder.map(pow, [2, 3], [3, 2])) == [8, 9]
    assert list(recorder.map(abs, [-1])) == [1]
    assert [len(batch.tasks) for batch in recorder.end()] == [2, 1, 0]
