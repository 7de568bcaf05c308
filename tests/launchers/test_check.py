"""What a job printed, set beside the order that was meant."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

from tests.launchers.orders import BY_CORE, SWAPPED, orders
from tiger.errors import InputError
from tiger.launchers import wrapper
from tiger.launchers.check import RankPlace, describe_check, list_differences, read_places

WHERE = Path(__file__).resolve().parents[2] / "examples" / "where.py"


@pytest.mark.parametrize("variable", wrapper.RANKS)
def test_bug_ranks_of_all_launchers_say_where_they_are(tmp_path, variable) -> None:
    """By the variables that the wrapper knows a rank by."""
    clean = {name: value for name, value in os.environ.items() if name not in wrapper.RANKS}
    run = subprocess.run([sys.executable, WHERE], env=clean | {variable: "3"}, capture_output=True, check=True)
    (tmp_path / "said").write_bytes(run.stdout)
    places = read_places(tmp_path / "said")
    assert list(places) == [3]
    assert places[3].cores


def test_lines_are_ranks_hosts_and_cores(tmp_path) -> None:
    """In any order, with cores as Linux lists them, comments and blank lines between."""
    (tmp_path / "said").write_text("1 n0 0-2,5\n\n# later\n0 n1.cluster\n")
    places = {1: RankPlace("n0", frozenset({0, 1, 2, 5})), 0: RankPlace("n1.cluster", None)}
    assert read_places(tmp_path / "said") == places


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 n0\n0 n1\n", "line 2: expected each rank once, got 0 again"),
        ("rank 0 n0 1\n", "line 1: expected RANK HOST .CORES., got 'rank 0 n0 1'"),
        ("0 n0 3-1\n", "line 1: expected cores such as 0-3,8, got '3-1'"),
        ("0 n0 0-99999999\n", "line 1: expected cores such as 0-3,8"),
        ("# nothing\n", "expected lines RANK HOST .CORES., got none in"),
    ],
)
def test_other_lines_are_refused(tmp_path, text, reason) -> None:
    """With the number of the line."""
    (tmp_path / "said").write_text(text)
    with pytest.raises(InputError, match=f"^check: {reason}"):
        read_places(tmp_path / "said")


def test_differences_are_listed() -> None:
    """Another host, other cores, a rank that is missing and one too many."""
    places = {0: RankPlace("n1", frozenset({0})), 1: RankPlace("n2", None), 7: RankPlace("n0", None)}
    assert list_differences(BY_CORE, places) == [
        "rank 0: expected n1 core 1, got n1 core 0",
        "rank 1: expected n0 core 0, got n2",
        "rank 2: expected n1 core 0, got nothing",
        "rank 7: expected none, got n0",
    ]
    assert describe_check(BY_CORE, places).splitlines()[0] == "0 of 3 ranks run where the order says"


def test_hosts_that_have_changed_places_are_told() -> None:
    """The launcher took them in another order."""
    other = {"n0": "n2", "n1": "n0", "n2": "n1"}
    places = {k: RankPlace(other[binding.host], None) for k, binding in enumerate(SWAPPED.bindings)}
    told = describe_check(SWAPPED, places).splitlines()
    assert told[0] == "0 of 5 ranks run where the order says"
    assert told[-1].endswith("on another one: those of n0 on n2, those of n1 on n0, those of n2 on n1")


def test_cores_that_are_not_told_are_not_compared() -> None:
    """Which is said; an order of hosts alone has none to compare."""
    told = describe_check(BY_CORE, {k: RankPlace(at.host, None) for k, at in enumerate(BY_CORE.bindings)})
    assert told.endswith("3 of 3 ranks run where the order says\ncores were not compared, which 3 ranks do not tell\n")
    wide = {k: RankPlace(at.host, frozenset(range(3, 9))) for k, at in enumerate(SWAPPED.bindings)}
    assert describe_check(SWAPPED, wide) == "5 of 5 ranks run where the order says\n"


@given(order=orders())
def test_an_order_is_where_it_says(order) -> None:
    """Also by the full names of hosts."""
    places = {k: RankPlace(f"{at.host}.net", frozenset(at.cores) or None) for k, at in enumerate(order.bindings)}
    assert list_differences(order, places) == []
