"""Tests of the places where measured tables stand in the documentation."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import PAGES

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_has_both_its_markers(page: Path) -> None:
    """So that measuring one again replaces it, and nothing else."""
    text = page.read_text(encoding="utf-8")
    marks = re.findall(r"<!-- (table|end)\b", text)
    assert marks == ["table", "end"] * (len(marks) // 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "arguments", "reason"),
    [
        (
            "benchmarks.vary",
            ["tiger.mapping.mapper:NOPE", "1"],
            "argument MODULE:NAME: module 'tiger.mapping.mapper' has no",
        ),
        ("benchmarks.vary", ["nowhere:NOPE", "1"], "argument MODULE:NAME: No module named 'nowhere'"),
        ("benchmarks.vary", ["tiger.mapping.mapper:__name__", "1/0"], "argument VALUE: Fraction(1, 0)"),
        (
            "benchmarks.vary",
            ["tiger.placement.operators.latency.annealing:PieceParams.tries", "1"],
            "argument MODULE:NAME: expected a field with a default of a dataclass by keywords, got PieceParams.tries",
        ),
        (
            "benchmarks.vary",
            ["tiger.mapping.mapper:__name__", "1", "--only", "no such"],
            "argument --only: expected a part",
        ),
        (
            "benchmarks.vary_plans",
            ["tiger.mapping.mapper:NOPE", "1"],
            "argument MODULE:NAME: module 'tiger.mapping.mapper' has no",
        ),
        ("benchmarks.__main__", ["cold", "--before", "nowhere"], "argument --before: expected a checkout"),
        ("benchmarks.__main__", ["scale", "--graphs", "examples"], "graphs: expected a folder with bert_l-6"),
        ("benchmarks.__main__", ["optima", "--circuits", "nowhere"], "argument --circuits: expected a folder"),
    ],
)
def test_bad_arguments_are_named(
    module: str, arguments: list[str], reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With status 2, as argparse does it."""
    monkeypatch.setattr(sys, "argv", ["python", *arguments])
    with pytest.raises(SystemExit, match=r"^2$"):
        import_module(module).main()
    assert reason in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "arguments", "reason"),
    [
        (
            "benchmarks.vary",
            ["tiger.mapping.mapper:Request", "1"],
            "argument MODULE:NAME: expected a constant or CLASS.FIELD",
        ),
        (
            "benchmarks.vary",
            ["tiger.solvers.annealing.tabu:TabuParams.tenure", "1"],
            "argument VALUE: expected several numbers in brackets, as (",
        ),
        (
            "benchmarks.vary_plans",
            ["tiger.qubo.window_sampling:RISE", "(1, 2)"],
            "argument VALUE: expected a number, as ",
        ),
        (
            "benchmarks.vary",
            ["tiger.mapping.mapper:__name__", "1", "--seeds", "0"],
            "argument --seeds: expected a number from 1",
        ),
        ("benchmarks.vary", ["tiger.mapping.mapper:__name__", "1", "--solver", "no"], "solver: expected one of auto"),
        ("benchmarks.vary", ["tiger.mapping.mapper:__name__", "1", "--effort", "0"], "effort: expected a whole number"),
        (
            "benchmarks.vary_plans",
            ["tiger.mapping.mapper:__name__", "1", "--only", "no such"],
            "argument --only: expected a part",
        ),
    ],
)
def test_bug_arguments_that_change_nothing_or_fail_later_are_named(
    module: str, arguments: list[str], reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A class was set to a number, without any effect; other arguments ended in a traceback or in nan."""
    test_bad_arguments_are_named(module, arguments, reason, monkeypatch, capsys)


@pytest.mark.long
def test_every_measurement_can_be_imported() -> None:
    """Names that move are followed by what measures."""
    names = [f"benchmarks.{path.stem}" for path in (ROOT / "benchmarks").glob("*.py") if path.stem[0] != "_"]
    code = f"from importlib import import_module\nfor name in {names}: import_module(name)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
