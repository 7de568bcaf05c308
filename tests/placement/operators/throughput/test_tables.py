"""Tests of the terms by vertices."""

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tiger.model.arrays import IntArray
from tiger.placement.operators.linear_orders import arcs
from tiger.placement.operators.throughput.tables import make_tables

NONE: IntArray = np.empty(0, np.int64)


@pytest.mark.parametrize("seed", range(8))
def test_groups_sum_up_their_groups(seed: int) -> None:
    """What they take and hold; and they go where all of their groups may."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    label = np.unique(rng.integers(0, 4, terms.groups), return_inverse=True)[1].astype(np.int64)
    made = make_tables(terms, label, NONE)
    for g in range(label.max() + 1):
        inside = label[terms.group_of] == g
        np.testing.assert_allclose(made.work[g], terms.work[:, inside].sum(axis=1))
        assert made.memory[g] == pytest.approx(terms.memory[label == g].sum())
        assert (made.allowed[g] == terms.allowed[label == g].all(axis=0)).all()


@pytest.mark.parametrize("seed", range(8))
def test_readers_are_counted_by_vertex(seed: int) -> None:
    """Each edge between two vertices once, by its producer; those within one for what others consume as well."""
    terms = draw_terms(seed)
    made = make_tables(terms, np.arange(terms.groups), NONE)
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    outside = terms.group_of[producer] != terms.group_of[terms.consumer]
    assert made.input_count.sum() == outside.sum()
    assert sorted(made.output.tolist()) == np.unique(producer[outside]).tolist()
    for g in range(terms.groups):
        for j in range(made.output_start[g], made.output_start[g + 1]):
            assert terms.group_of[made.output[j]] == g
            assert made.kept[j] == (~outside & (producer == made.output[j])).sum()


@pytest.mark.parametrize("seed", range(5))
def test_stages_bind_the_groups_of_arcs(seed: int) -> None:
    """But where they are free."""
    terms = draw_terms(seed)
    every = np.arange(terms.groups)
    source, target = arcs(terms)
    made = make_tables(terms, every, np.arange(terms.devices))
    reader = np.repeat(every, np.diff(made.before_start))
    found = set(zip(made.before.tolist(), reader.tolist(), strict=True))
    assert found == {(a, b) for a, b in zip(source.tolist(), target.tolist(), strict=True) if a != b}
    assert len(made.before) == len(made.after)
    assert len(make_tables(terms, every, NONE).before) == 0
