"""Counts of transitions between experts."""

from itertools import product

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.expert_maps import transitions
from tiger.expert_maps.transitions import count_transitions


@pytest.mark.parametrize("chosen", [1, 2])
def test_every_pair_of_choices_counts(chosen: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every token and every two consecutive layers, in parts of three tokens."""
    monkeypatch.setattr(transitions, "ROWS", 3)
    trace = np.random.default_rng(0).random((20, 4, 5)).argsort(axis=2)[..., :chosen]
    counts = np.zeros((3, 5, 5))
    for token, layer in product(trace, range(3)):
        for a, b in product(token[layer], token[layer + 1]):
            counts[layer, a, b] += 1
    assert count_transitions(trace, 5).tolist() == counts.tolist()


def test_small_types_do_not_overflow() -> None:
    """Numbers of 200 experts take a byte, those of their pairs do not."""
    assert count_transitions(np.full((2, 2, 1), 199, np.uint8), 200)[0, 199, 199] == 2


def test_tables_of_pairs_have_an_end() -> None:
    """Before any is made."""
    with pytest.raises(InputError, match="experts: expected at most 33,554,432 pairs"):
        count_transitions(np.zeros((1, 2, 1), int), 10**6)


def test_bug_an_expert_that_a_token_names_twice_is_refused() -> None:
    """It counted twice, as if the token were two."""
    trace = np.array([[[0, 1], [2, 3]], [[1, 2], [3, 3]]])
    with pytest.raises(InputError, match=r"^trace: expected different experts, got 3 twice for token 6 in layer 1,"):
        count_transitions(trace, 4, first_token=5)
