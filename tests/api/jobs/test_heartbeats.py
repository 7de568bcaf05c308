"""Which servers have gone silent."""

from tiger.api.jobs.heartbeats import Heartbeats


def test_a_server_whose_beat_stays_the_same_is_silent_in_the_end() -> None:
    """Not before so many beats of this one."""
    heartbeats = Heartbeats(3)
    found = []
    for _ in range(4):
        heartbeats.note({"a": 7.0})
        found.append(dict(heartbeats.list_silent()))
    assert found == [{}, {}, {}, {"a": 7.0}]


def test_bug_no_server_is_silent_when_a_clock_is_set() -> None:
    """Whatever the beats say, they change."""
    heartbeats = Heartbeats(2)
    for beat in (10.0, 3610.0, 11.0, -5.0, 12.0):
        heartbeats.note({"a": beat})
        assert not heartbeats.list_silent()


def test_a_server_that_has_left_is_forgotten() -> None:
    """It has said so itself, and should it come back, it is new."""
    heartbeats = Heartbeats(1)
    for beats in ({"a": 1.0}, {}, {"a": 1.0}):
        heartbeats.note(beats)
        assert not heartbeats.list_silent()
