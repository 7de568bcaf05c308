"""Tests of how rebalanced runs are shown."""

from dataclasses import replace

import pytest

import tiger
from tests.reports import KEPT, MOVED, REBALANCING
from tiger.plotting.pictures import list_artists


def test_iterations_stand_above_the_layers_of_devices() -> None:
    """Four lines and the marks of moves have words in the legend, and bands the names of devices."""
    upper, lower = REBALANCING.plot("loads").axes
    legend = upper.get_legend()
    assert legend is not None
    assert [words.get_text() for words in legend.get_texts()] == [
        *("rebalanced", "uniform cuts", "best cuts that never move", "lower bound", "so many layers move")
    ]
    assert (upper.get_ylabel(), upper.get_title("left")[:18]) == ("iteration in ms", "Rebalanced: 4.5 s ")
    assert [words.get_text() for words in upper.texts] == ["1"]
    assert sorted(words.get_text() for words in lower.texts) == ["x", "y"]
    assert lower.get_xlabel() == "interval of 10 iterations"


def test_what_does_not_fit_is_not_drawn() -> None:
    """Without uniform cuts, and without a move to be marked."""
    still = replace(REBALANCING.intervals[1], uniform_s=None)
    upper, _ = replace(REBALANCING, intervals=(still,), gain=None).plot().axes
    legend = upper.get_legend()
    assert legend is not None
    assert [words.get_text() for words in legend.get_texts()] == [
        "rebalanced",
        "best cuts that never move",
        "lower bound",
    ]


def test_numbers_at_marks_leave_each_other_room() -> None:
    """Of two hundred moves in a row, of which a mark each is thin."""
    moves = tuple(replace(REBALANCING.intervals[0], decision=MOVED) for _ in range(200))
    upper, _ = replace(REBALANCING, intervals=moves).plot().axes
    assert 10 < len(upper.texts) < 60
    marks = next(lines for lines in upper.collections if lines.get_label() == "so many layers move")
    assert (marks.get_linewidth()[0], len(marks.get_paths())) == (0.2, 200)


def test_devices_may_come_and_go() -> None:
    """A band has gaps where its device holds nothing, and narrow ones no name."""
    alone = replace(REBALANCING.intervals[1], decision=replace(KEPT, cuts=(0, 4), devices=("z",)))
    _, lower = replace(REBALANCING, intervals=(*REBALANCING.intervals, alone)).plot().axes
    assert sorted(words.get_text() for words in lower.texts) == ["x", "y", "z"]


@pytest.mark.long
def test_a_report_that_was_read_has_its_picture_and_its_card() -> None:
    """Nothing that is drawn is missing in the document."""
    read = tiger.RebalanceReport.from_dict(REBALANCING.to_dict())
    assert (read, list(list_artists(read))) == (REBALANCING, ["loads"])
    assert "1.33x as fast as uniform cuts" in tiger.card(read)
