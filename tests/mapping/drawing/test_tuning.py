"""Tests of the picture of penalties and their tuning."""

from tiger.mapping.drawing.tuning import draw_tuning, find_rounds
from tiger.run.stage import Stage

ROUNDS = (
    {"penalty_scale": 1.0, "feasible_share": 1.0, "best_raw": 30.0},
    {"penalty_scale": 0.5, "feasible_share": 0.0, "best_raw": None},
    {"penalty_scale": 0.7, "feasible_share": 0.5, "best_raw": 20.0},
)


def test_rounds_are_those_of_the_qubo_of_the_whole_problem():
    """Tests a stage of windows, which has none to draw."""
    windows = Stage(name="windows", cost=1.0, seconds=0.1, detail={"rounds": 3})
    qubo = Stage(name="qubo", cost=1.0, seconds=0.1, detail={"rounds": ROUNDS})
    assert find_rounds([windows]) == []
    assert find_rounds([windows, qubo]) == list(ROUNDS)


def test_a_round_without_a_feasible_read_has_no_best_one():
    """Tests the figures of three rounds."""
    above, middle, below = draw_tuning(ROUNDS, 19.0).axes
    assert [bar.get_height() for bar in above.patches] == [1.0, 0.5, 0.7]
    assert [bar.get_height() for bar in middle.containers[0]] == [100.0, 0.0, 50.0]
    assert below.lines[0].get_xydata().tolist() == [[1, 30.0], [3, 20.0]]
