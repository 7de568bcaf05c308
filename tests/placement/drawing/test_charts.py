"""Tests of the pictures of a pipeline."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

import tiger
from tiger.errors import InputError
from tiger.placement.drawing import charts, gantt
from tiger.placement.emission.deployment import Deployment
from tiger.placement.entry.account import list_placed_stages
from tiger.placement.entry.arrangement import Arrangement, Timetable
from tiger.placement.entry.report import PlacementReport
from tiger.plotting.picturefile import check, write, write_figure
from tiger.run.drawing import panels
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import Workload
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.layers import Layers
from tiger.training.models.operators import Operators
from tiger.training.schedules.memory import footprint
from tiger.training.schedules.simulator import simulate

NAMES = ("gpu0", "gpu1")


def two_stages(virtual=1, second=1.0):
    """Return two positions with messages, all-reduces, and memory that differs."""
    stages = 2 * virtual
    return Workload(
        forward_s=np.full(stages, second),
        backward_s=np.full(stages, 2 * second),
        weight_s=np.full(stages, second),
        transfer_s=np.full(stages - 1, 0.2 * second),
        held_bytes=np.full(stages, 1e9),
        state_bytes=np.full(stages, 2e9),
        closing_s=np.array([second, 0.0]),
    )


def report_of(schedule, memory=(9e9, np.inf)):
    """Return the report of two layers on two devices."""
    layers = Layers(
        names=("a", "b"),
        forward_s=np.ones(2),
        backward_s=np.ones(2),
        parameter_bytes=np.full(2, 1e9),
        held_bytes=np.full(2, 1e9),
        crossing_bytes=np.array([0.0, 1.0, 0.0]),
    )
    cluster = Cluster(
        names=NAMES,
        speed=np.ones(2),
        memory_bytes=np.array(memory),
        curves=(Curve.affine(10.0, 0.0),),
        link=np.zeros((2, 2), np.int64),
    )
    plan = Deployment(layers=layers, cluster=cluster, plan=Plan.line((0, 1, 2), (0, 1)), schedule=schedule)
    return PlacementReport(
        feasible=True,
        solver="auto",
        seed=0,
        seconds=0.0,
        schedule=schedule,
        microbatches=None if schedule is None else 4,
        stages=list_placed_stages(plan),
        lower_bound_s=2.2,
        deployment=plan,
    )


def draw_timeline(timeline, names, ranks=1):
    """Return a figure with the upper panel alone."""
    figure, (axes, _) = panels.panels_of(len(names))
    charts._draw_passes(axes, timeline, names, ranks)
    return figure


def draw_memory(held, capacity):
    """Return a figure with the lower panel alone."""
    figure, (_, axes) = panels.panels_of(len(NAMES))
    charts._draw_memory(axes, held, NAMES, capacity, max(when[-1] for when in held.when_s))
    return figure


def words_of(figure):
    """Return the words of a figure: those in its panels, titles and legends, and of its rows."""
    words = [text.get_text() for text in figure.findobj(Text)]
    return [*words, *(label.get_text() for axes in figure.axes for label in axes.get_yticklabels())]


@pytest.mark.parametrize(
    ("schedule", "virtual", "title"),
    [
        ("gpipe", 1, "GPipe: 4 microbatches on 2 devices: "),
        ("interleaved", 2, "interleaved 1F1B: 4 microbatches on 2 devices, 2 stages each, later ones lighter: "),
        ("zero-bubble", 1, "zero-bubble: 4 microbatches on 2 devices: "),
    ],
)
def test_the_title_tells_schedule_time_and_bubble(schedule, virtual, title):
    """Tests the words above the passes, and those of the legend."""
    made = simulate(two_stages(virtual), schedule, 4)
    drawn = words_of(draw_timeline(made, NAMES))
    assert f"{title}{made.iteration_s:.4g} s, bubble {made.bubble:.1%}" in drawn
    words = [
        "forward",
        "backward",
        "message",
        "all-reduce",
        *(["weight gradient"] if schedule == "zero-bubble" else []),
    ]
    assert {*words} <= {*drawn}


@pytest.mark.parametrize(
    ("virtual", "ranks", "places"),
    [
        (1, 1, "on 4 devices"),
        (1, 4, "in 4 stages of 4 devices"),
        (2, 1, "on 4 devices, 2 stages each, later ones lighter"),
        (2, 4, "on 4 groups of 4 devices, 2 stages each, later ones lighter"),
    ],
)
def test_the_title_tells_how_many_devices_there_are(virtual, ranks, places):
    """Tests lines and groups, with one stage a position and with two."""
    assert charts._places(4, virtual, ranks) == places


@pytest.mark.long
def test_microbatches_are_numbered_from_1_where_there_is_room(monkeypatch):
    """Tests that numbers go with too many passes, and the picture stays."""
    made = simulate(two_stages(), "1f1b", 3)
    assert words_of(draw_timeline(made, NAMES)).count("3") >= 4
    monkeypatch.setattr(charts, "NUMBERED_PASSES", 5)
    assert words_of(draw_timeline(made, NAMES)).count("3") < 4


def test_passes_without_any_time_are_drawn(tmp_path):
    """Tests an axis without length."""
    write_figure(draw_timeline(simulate(two_stages(second=0.0), "1f1b", 2), NAMES), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 0


def test_rows_too_low_for_words_have_fewer_of_them(monkeypatch):
    """Tests the labels of two devices whose rows are as low as those of hundreds: the first alone has any."""
    monkeypatch.setattr(panels, "row_in", lambda rows: 0.06)
    workload = two_stages()
    made = simulate(workload, "1f1b", 3)
    time = words_of(draw_timeline(made, ["a machine with a very long name", "gpu1"]))
    memory = words_of(draw_memory(footprint(made, workload), [8e9, 9e9]))
    assert "a machine with a very l…" in time
    assert "gpu1" not in time
    assert "4 GB of 8 GB" in memory
    assert not any("of 9 GB" in words for words in memory)


def test_passes_that_no_dot_is_left_for_are_left_out(monkeypatch):
    """Tests 12 passes over four dots of the width of the picture: one for each dot in which any begins."""
    made = simulate(two_stages(), "1f1b", 3)
    assert charts._thin(made) is made
    monkeypatch.setattr(charts, "DRAWN_PASSES", 11)
    monkeypatch.setattr(charts, "WIDTH_IN", 4 / charts.DPI)
    thinned = charts._thin(made)
    assert thinned.position.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert thinned.iteration_s == made.iteration_s
    assert thinned.end_s.max() <= made.iteration_s
    assert thinned.end_s[0] == made.iteration_s / 4


def test_rows_of_many_devices_are_lower():
    """Tests the inches of a row."""
    assert panels.row_in(4) == 0.42
    assert panels.row_in(100) == 0.14
    assert panels.row_in(1000) == 0.06


def test_memory_is_drawn_under_its_capacity():
    """Tests the words beside the rows: within capacity, and without one."""
    workload = two_stages()
    held = footprint(simulate(workload, "1f1b", 4), workload)
    drawn = words_of(draw_memory(held, [8e9, np.inf]))
    assert {"Memory: at most 4 GB", "4 GB of 8 GB", "3 GB"} <= {*drawn}
    assert not any("beyond capacity" in words for words in drawn)


def test_memory_beyond_capacity_is_said_so():
    """Tests a device that is too small, and one so large that its line would flatten all rows."""
    workload = two_stages()
    held = footprint(simulate(workload, "1f1b", 4), workload)
    drawn = words_of(draw_memory(held, [3e9, 1e15]))
    assert {"Memory: at most 4 GB; larger capacities are off the scale", "3 GB of 1,000 TB", "capacity"} <= {*drawn}
    assert any("beyond capacity" in words for words in drawn)


def test_a_placement_with_a_schedule_shows_passes_and_memory(tmp_path):
    """Tests both panels of one picture."""
    write(report_of("1f1b"), tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "1F1B: 4 microbatches on 2 devices" in drawn
    assert "3 GB of 9 GB" in drawn


def test_a_placement_without_a_schedule_shows_loads_and_memory():
    """Tests the bottleneck with its bound, and parameters alone."""
    drawn = words_of(tiger.draw(report_of(None)))
    assert "One microbatch: bottleneck 2.2 s, no split of these layers below 2.2 s" in drawn
    assert "1 GB of 9 GB" in drawn


@pytest.mark.parametrize(("schedule", "pipeline", "layers", "bottleneck"), [("zb-v", 3, 6, 21), ("chimera", 2, 2, 4.5)])
def test_bug_loads_were_drawn_at_other_devices_than_those_of_their_stages(schedule, pipeline, layers, bottleneck):
    """Layers of 3 s, 6 s, ..: a device of a V has the first and the last, one of two directions half of each."""
    free = {"parameter_bytes": 0, "activation_bytes": 0}
    rows = [{"name": f"l{k}", "forward_s": k, "backward_s": 2 * k, **free} for k in range(1, layers + 1)]
    report = tiger.place({"layers": rows}, "dgx:1", schedule=schedule, pipeline=pipeline, microbatches=6)
    assert report.bottleneck_s == pytest.approx(bottleneck)
    assert any(f"bottleneck {bottleneck:g} s" in words for words in words_of(charts.draw_panels(report, ["loads"])))


def test_no_plan_is_no_picture(tmp_path):
    """Tests the report of a model that does not fit."""
    with pytest.raises(InputError, match="plot: expected a report of something that is possible"):
        write(PlacementReport(feasible=False, solver="auto", seed=0, seconds=0.0), tmp_path / "a.png")


@pytest.mark.parametrize(("name", "reason"), [("a.gif", "ends in .svg"), ("a", "ends in"), ("no/such/a.png", "plot")])
def test_files_that_cannot_be_drawn_are_refused(tmp_path, name, reason):
    """Tests unknown endings and a folder that does not exist."""
    with pytest.raises(InputError, match=reason):
        write(report_of("1f1b"), tmp_path / name)


def test_a_missing_matplotlib_names_the_extra(monkeypatch):
    """Tests the advice."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install 'tiger-mapper\[plot\]'"):
        check("a.png")


def test_operators_for_latency_have_their_times():
    """Tests the three panels: times of both passes, loads under their bound, memory; many short ones are joined."""
    operators = Operators(
        names=("a", "b", "c"),
        seconds=np.array([2.0, 3.0, 2.0]),
        source=np.array([0, 1]),
        target=np.array([1, 2]),
        backward=np.array([False, False, True]),
    )
    cluster = Cluster(
        names=("x", "y"),
        speed=np.ones(2),
        memory_bytes=np.full(2, 9.0),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((2, 2), np.int64),
    )
    arrangement = Arrangement(operators=operators, cluster=cluster, place=np.array([0, 1, 0]))
    report = PlacementReport(
        feasible=True, solver="auto", seed=0, seconds=0.1, mode="dag", objective="latency", latency_s=7.0
    )
    drawn = words_of(tiger.draw(replace(report, stages=arrangement.stages(), arrangement=arrangement)))
    assert {*drawn} >= {
        "One microbatch alone: 7 s, devices busy 50% of it",
        "forward",
        "backward",
        "One microbatch: bottleneck 4 s",
    }


def test_operators_too_short_to_be_seen_are_drawn_as_one():
    """Tests that bars on different rows, apart, or wide enough stay as they are."""
    times = Timetable(
        device=np.zeros(5, np.int64),
        begin_s=np.array([0.0, 0.1, 0.2, 5.0, 8.0]),
        end_s=np.array([0.1, 0.2, 0.3, 8.0, 9.5]),
    )
    every = np.ones(5, np.bool_)
    assert gantt._merge(times, np.zeros(5, np.int64), every, 1.0)[:, :2, 0].tolist() == [[0, 0.3], [5, 8], [8, 9.5]]
    assert len(gantt._merge(times, np.arange(5), every, 1.0)) == 5


def test_bug_operators_of_one_pass_alone_are_drawn():
    """Tests a graph without a backward pass, of which there are no bars."""
    rows = [{"name": name, "seconds": 1.0} for name in "ab"]
    report = tiger.place({"operators": rows, "edges": [["a", "b"]]}, "dgx:1", mode="dag", objective="latency")
    legend = tiger.draw(report, "gantt").axes[0].get_legend()
    assert [text.get_text() for text in legend.texts] == ["forward"]
