"""Tests of the picture of a circuit on a device."""

from dataclasses import replace

from tests.pictured import lay_out_circuit
from tiger.circuits.drawing.device import count_uses, draw_layout
from tiger.circuits.drawing.swaps import draw_swaps
from tiger.circuits.drawing.view import view_circuit
from tiger.circuits.entry.hardware import read_device

REPORT = lay_out_circuit()
VIEW = view_circuit(REPORT, read_device(REPORT.device))


def legend(figure):
    """Return the words of the legend."""
    return [text.get_text() for text in figure.axes[0].get_legend().texts]


def test_a_swap_counts_three_gates():
    """Tests the uses of three couplings, the last of which has none."""
    assert count_uses(VIEW).tolist() == [2, 3, 0]


def test_couplings_are_wide_where_many_gates_are_and_dark_where_they_fail():
    """Tests widths and errors."""
    lines = draw_layout(VIEW).axes[0].collections[0]
    width = lines.get_linewidths()
    assert width[1] > width[0] > width[2]
    assert lines.get_array().tolist() == [0.01, 0.02, 0.03]


def test_qubits_say_what_they_hold():
    """Tests the numbers of the circuit's qubits, and a ring around bad readout."""
    figure = draw_layout(VIEW)
    assert [text.get_text() for text in figure.axes[0].texts] == ["q0", "q1", "q2"]
    held = ["holds a qubit of the circuit at the start", "not used", "readout error above 0.022"]
    assert legend(figure) == [*held, "wide: many two-qubit gates"]


def test_a_device_without_errors_has_no_scale():
    """Tests that used couplings have another colour than the others."""
    figure = draw_layout(view_circuit(REPORT, read_device("grid:1x4")))
    colours = figure.axes[0].collections[0].get_colors()
    assert len(figure.axes) == 1
    assert (colours[0] == colours[1]).all()
    assert (colours[0] != colours[2]).any()


def test_qubits_that_only_routing_uses_are_named():
    """Tests a circuit of two qubits that passes a third one."""
    report = replace(REPORT, initial_layout={0: 0, 1: 1}, final_layout={0: 0, 1: 2})
    assert "passed by routing" in legend(draw_layout(view_circuit(report, read_device(REPORT.device))))


def test_bug_a_picture_of_some_gates_says_so():
    """Tests a view that has not all of them, and one of groups of qubits."""
    some = draw_layout(replace(VIEW, total_gates=90_000)).axes[0].get_title()
    assert some.endswith(": 5 two-qubit gates on 2 couplings,\nof the first 3 of 90,000 gates")
    groups = replace(VIEW, device=replace(VIEW.device, total=4000))
    assert draw_layout(groups).axes[0].get_title().endswith("between groups of qubits")


def test_swaps_are_counted_by_layer():
    """Tests the bars and the sum."""
    axes, summed = draw_swaps(VIEW).axes
    assert [bar.get_height() for bar in axes.patches] == [0, 1, 0]
    assert summed.lines[0].get_ydata().tolist() == [0, 0, 1, 1]
    assert axes.get_title() == "1 SWAPs in 3 layers"
