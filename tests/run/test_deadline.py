"""When a solve has to end."""

import pickle
import time

from tiger.run.deadline import Deadline


def test_a_deadline_passes() -> None:
    """By the clock of the system."""
    assert not Deadline(None)()
    assert not Deadline(time.monotonic() + 60)()
    assert Deadline(time.monotonic() - 1)()


def test_a_deadline_is_sent_by_the_seconds_left() -> None:
    """None of them where there is no end."""
    assert pickle.loads(pickle.dumps(Deadline(None))) == Deadline(None)
    sent = pickle.loads(pickle.dumps(Deadline(time.monotonic() + 60))).left_s
    assert 50 < sent <= 60


def test_a_part_of_the_time_ends_before_the_whole() -> None:
    """None of it where there is no end, and nothing where time is up."""
    assert Deadline(None).share(0.5) == Deadline(None)
    part = Deadline(time.monotonic() + 100).share(0.25).left_s
    assert 20 < part <= 25
    assert Deadline(time.monotonic() - 1).share(0.5)()
