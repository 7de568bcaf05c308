"""The pictures that the layout of a circuit has, by name."""

from functools import cache, partial

from tiger.circuits.drawing.device import draw_layout
from tiger.circuits.drawing.swaps import draw_swaps
from tiger.circuits.entry.report import CircuitReport
from tiger.errors import InputError
from tiger.run.drawing.artists import FIELD, Artists
from tiger.run.drawing.convergence import Course, costs_of, draw_convergence


def list_pictures(report: CircuitReport) -> Artists:
    """Return what draws each picture of a circuit's mapping."""
    if not report.feasible:
        return {}
    if report.device is None or (report.circuit is None and report.qasm is None):
        raise InputError(FIELD, "expected a report with its circuit and device at hand, got one of a service alone")
    # Qiskit takes half a second to import, which other pictures do without.
    from tiger.circuits.drawing.view import view_circuit
    from tiger.circuits.entry.hardware import read_device

    view = cache(lambda: view_circuit(report, read_device(report.device)))
    course = Course(
        "extra CX",
        report.stages,
        costs_of(report.stages),
        before=("Qiskit's own layout and routing", report.baseline_extra_cx),
        bound=("lower bound", report.lower_bound),
    )
    return {
        "layout": lambda: draw_layout(view()),
        "swaps": lambda: draw_swaps(view()),
        "convergence": partial(draw_convergence, course),
    }
