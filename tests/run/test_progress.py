"""Tests of the progress value."""

from dataclasses import FrozenInstanceError

import pytest

from tiger.run.progress import Progress


def test_progress_has_no_message_unless_given() -> None:
    """A step says what its figures say and no more."""
    assert Progress("start", None, None) == Progress(stage="start", fraction=None, cost=None, message="")


def test_progress_cannot_be_changed() -> None:
    """A listener cannot alter what another one sees."""
    with pytest.raises(FrozenInstanceError):
        Progress("start", 0.5, 3.0).cost = 2.0
