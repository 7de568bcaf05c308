"""Tests of server-sent events and of what they say of progress."""

import pytest

from tiger.client.job import _progress, events
from tiger.run.progress import Progress


def test_events_have_a_name_and_an_object() -> None:
    """Comments keep a connection open and are no events, and a line of data may go on in the next."""
    lines = [": ping", "", "event: progress", 'data: {"id":', 'data: "j"}', "", "event:done", 'data:{"id": "k"}', ""]
    assert list(events(lines)) == [("progress", {"id": "j"}), ("done", {"id": "k"})]


def test_events_that_cannot_be_read_are_passed_over() -> None:
    """What is no object, and one that breaks off."""
    lines = ["data: nonsense", "", "data: [1]", "", 'data: {"id": 1}', "", "event: done"]
    assert list(events(lines)) == [("message", {"id": 1})]


@pytest.mark.parametrize(
    ("said", "step"),
    [
        (None, None),
        ({}, Progress("running", None, None)),
        ({"stage": "anneal", "cost": 3, "bound": 2, "fraction": 0.5}, Progress("anneal", 0.5, 3.0, 2.0)),
        ({"stage": None, "cost": None, "fraction": 7}, Progress("running", 1.0, None)),
    ],
)
def test_progress_is_that_of_a_local_run(said: object, step: Progress | None) -> None:
    """What is not known is None, and a stage without a name is the status."""
    assert _progress(said, "running") == step
