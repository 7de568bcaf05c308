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
