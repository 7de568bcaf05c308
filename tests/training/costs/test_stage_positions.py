"""Tests of where stages run."""

from tiger.training.costs.stage_positions import stage_positions, stages_by_position


def test_a_loop_starts_at_the_first_position_again() -> None:
    """Tests three positions and two rounds."""
    assert stage_positions("loop", 3, 6).tolist() == [0, 1, 2, 0, 1, 2]
    assert stages_by_position("loop", 3, 6).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_v_comes_back() -> None:
    """Tests that the first position has the first stage and the last."""
    assert stage_positions("v", 3, 6).tolist() == [0, 1, 2, 2, 1, 0]
    assert stages_by_position("v", 3, 6).tolist() == [[0, 1, 2], [5, 4, 3]]


def test_one_round_is_the_same_either_way() -> None:
    """Tests what searches with one stage a position ask for."""
    assert stage_positions("v", 4, 4).tolist() == stage_positions("loop", 4, 4).tolist() == [0, 1, 2, 3]
