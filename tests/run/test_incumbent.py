"""Tests of a search under way, whatever its solutions are."""

import math
from unittest import mock

import pytest

from tiger.run.incumbent import Incumbent


def incumbent_of(**fields):
    """Return a search for a short word, which knows none, and the messages that it sends."""
    seen = []
    return Incumbent[str | None](solution=None, stop=lambda: False, watch=seen.append, **fields), seen


def test_lower_values_are_taken():
    """Tests that the first solution is taken, and then only lower values."""
    incumbent, _ = incumbent_of()
    assert incumbent.value == math.inf
    assert incumbent.take("four", 4.0)
    assert not incumbent.take("five", 4.0)
    assert not incumbent.take("nan", math.nan)
    assert incumbent.take("one", 3.0)
    assert (incumbent.solution, incumbent.value) == ("one", 3.0)


def test_a_search_ends_at_its_bound_by_proof_or_when_messages():
    """Tests each of the three, and a bound that is met within a tolerance of its own."""
    incumbent, _ = incumbent_of()
    incumbent.take("four", 4.0)
    assert not incumbent.ended
    incumbent.bound = 3.0
    assert not incumbent.optimal
    incumbent.meets = lambda value, bound: value <= bound + 1
    assert incumbent.optimal
    other, _ = incumbent_of(proved=True)
    assert other.ended
    late = Incumbent(solution=None, stop=lambda: True)
    assert (late.ended, late.optimal) == (True, False)


def test_stages_are_announced_and_recorded(monkeypatch):
    """Tests the message before, and the value, figures and seconds after."""
    monkeypatch.setattr("tiger.run.incumbent.time", mock.Mock(perf_counter=iter([1.0, 3.0, 10.0, 13.0]).__next__))
    incumbent, seen = incumbent_of(bound=1.0)
    with incumbent.stage("look", 0.5) as detail:
        detail["tries"] = 2
        incumbent.take("four", 4.0)
    with incumbent.stage("again"):
        pass
    assert [(p.stage, p.fraction, p.cost, p.bound) for p in seen] == [
        ("look", 0.5, None, 1.0),
        ("again", None, 4.0, 1.0),
    ]
    assert [(stage.name, stage.cost, dict(stage.detail)) for stage in incumbent.stages] == [
        ("look", 4.0, {"tries": 2}),
        ("again", 4.0, {}),
    ]
    assert [stage.seconds for stage in incumbent.stages] == [2.0, 3.0]


def test_a_stage_that_fails_is_not_recorded():
    """Tests that an exception goes through."""
    incumbent, _ = incumbent_of()
    with pytest.raises(RuntimeError), incumbent.stage("look"):
        raise RuntimeError
    assert incumbent.stages == []
