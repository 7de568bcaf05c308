"""What a caller may ask of a circuit's mapping."""

import numpy as np
import pytest

from tiger.circuits.entry.request import check_params, read_layout
from tiger.circuits.params import LayoutParams
from tiger.errors import InputError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("level", 4),
        ("level", -1),
        ("level", True),
        ("level", 1.0),
        ("effort", 0),
        ("effort", None),
        ("effort", 1.5),
        ("objective", "swaps"),
        ("solver", "nobody"),
        ("seed", -1),
        ("seed", 2**63),
        ("time_limit_s", 0),
        ("time_limit_s", float("nan")),
        ("threads", 0),
        ("threads", 1025),
    ],
)
def test_bad_values_are_named(name: str, value: object) -> None:
    """Every one by its argument."""
    with pytest.raises(InputError, match="expected") as caught:
        check_params(LayoutParams(**{name: value}))
    assert caught.value.field == name


def test_good_values_pass() -> None:
    """As they are."""
    params = LayoutParams(level=0, effort=3, objective="depth", solver="neal", seed=2**63 - 1, time_limit_s=0.5)
    assert check_params(params) is params


@pytest.mark.parametrize(
    "given", [[4, 0, 2], (4, 0, 2), np.array([4, 0, 2]), {0: 4, 2: 2, 1: 0}, {"1": 0, "0": 4, "2": 2}]
)
def test_a_layout_is_a_list_or_a_mapping(given: object) -> None:
    """Circuit qubits are numbers, also as text."""
    assert read_layout(given, 3, 5).tolist() == [4, 0, 2]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ([0, 1], "initial_layout"),
        ([0, 1, 2, 3], "initial_layout"),
        ([0, 1, 1], "initial_layout/2"),
        ([0, 5, 1], "initial_layout/1"),
        ([0, -1, 1], "initial_layout/1"),
        ([0, "a", 1], "initial_layout/1"),
        ({"0": 1, "1": 2, "3": 0}, "initial_layout/3"),
        ({"0": 1, "1": 2, "q": 0}, "initial_layout/q"),
        ({"0": 1, 0: 2, 1: 0}, "initial_layout/0"),
        ({"0": 1, "1": 2, "9" * 30: 0}, f"initial_layout/{'9' * 30}"),
    ],
    ids=str,
)
def test_bad_layouts_are_named(given: object, field: str) -> None:
    """Missing, unknown and repeated qubits are bad input."""
    with pytest.raises(InputError, match="expected") as caught:
        read_layout(given, 3, 5)
    assert caught.value.field == field


def test_other_types_are_refused() -> None:
    """A text is no layout."""
    for given in ("012", b"012", 5):
        with pytest.raises(TypeError, match="expected initial_layout as a sequence"):
            read_layout(given, 3, 5)
