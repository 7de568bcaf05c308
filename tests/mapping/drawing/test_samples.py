"""Tests of the picture of what reads are worth beside coin flips."""

from tiger.mapping.drawing.samples import draw_samples
from tiger.run.samples import BestReads, SamplingReport


def test_steps_without_a_feasible_read_are_said():
    """Tests the costs of both kinds and the words in place of a missing one."""
    drawn = SamplingReport(
        calls=8,
        reads=384,
        compared_reads=48,
        cost_of_reads=BestReads(raw=30.0, repaired=25.0, polished=20.0),
        cost_of_control=BestReads(repaired=40.0, polished=21.0),
    )
    (axes,) = draw_samples(drawn, "neal", 20.0).axes
    own, control, end = axes.lines
    assert own.get_xydata().tolist() == [[0, 30.0], [1, 25.0], [2, 20.0]]
    assert control.get_xydata().tolist() == [[1, 40.0], [2, 21.0]]
    assert set(end.get_ydata()) == {20.0}
    words = {text.get_text() for text in axes.texts}
    assert words == {"30", "25", "20", "40", "21", "none feasible of\ncoin flips"}
    assert "48 reads of neal" in axes.get_title()
