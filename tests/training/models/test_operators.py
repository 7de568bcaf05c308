"""Tests of operators and the edges between them."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.training.models.operators import Operators


def three_operators(edges: list[tuple[int, int]], **fields: object) -> Operators:
    """Return three operators of 1, 2 and 3 s with some edges."""
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    given = {"names": ("a", "b", "c"), "seconds": np.array([1.0, 2.0, 3.0])} | fields
    return Operators(source=source, target=target, **given)  # type: ignore[arg-type]  # fields of any type are tried


def test_what_is_not_stated_costs_nothing() -> None:
    """But a cpu takes as long as an accelerator."""
    operators = three_operators([(0, 1)])
    assert operators.cpu_s.tolist() == [1, 2, 3]
    for nothing in ("memory_bytes", "sent_s", "sent_bytes", "backward", "cpu_only"):
        assert not getattr(operators, nothing).any()
    assert (operators.size, operators.groups) == (3, 3)


def test_an_edge_counts_once() -> None:
    """Edges are by source and then target."""
    operators = three_operators([(1, 2), (0, 2), (1, 2), (0, 1)])
    assert operators.source.tolist() == [0, 0, 1]
    assert operators.target.tolist() == [1, 2, 2]


def test_groups_are_numbered_as_they_come() -> None:
    """Whatever the numbers of their colours are."""
    assert three_operators([], colour=np.array([7, 3, 7])).colour.tolist() == [0, 1, 0]


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (2, 1)], [(1, 1)]])
def test_a_cycle_is_bad_input(edges: list[tuple[int, int]]) -> None:
    """The message names an operator on it, not one that only leads there."""
    with pytest.raises(InputError, match=r"cycles, got one through '[bc]'"):
        three_operators(edges)


def test_a_long_name_on_a_cycle_is_cut_short() -> None:
    """The message stays readable."""
    with pytest.raises(InputError) as caught:
        three_operators([(0, 0)], names=("a" * 10_000, "b", "c"))
    assert len(caught.value.reason) < 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seconds", np.array([1.0, -1.0, 0.0])),
        ("memory_bytes", np.ones(2)),
        ("sent_s", np.array([1.0, np.nan, 0.0])),
        ("colour", np.zeros(2, np.int64)),
        ("backward", np.zeros(4, np.bool_)),
    ],
)
def test_a_field_that_does_not_fit_is_named(field: str, value: object) -> None:
    """Lengths and ranges are checked."""
    with pytest.raises(InputError) as caught:
        three_operators([], **{field: value})
    assert caught.value.field == f"model/{field}"


def test_an_edge_to_nowhere_is_bad_input() -> None:
    """Operators are numbered from 0."""
    with pytest.raises(InputError, match="0 to 2"):
        three_operators([(0, 3)])
