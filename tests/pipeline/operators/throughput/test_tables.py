"""Tests of the terms by groups."""

import numpy as np
import pytest

from tests.pipeline.operators.instances import draw_terms
from tiger.model.arrays import IntArray
from tiger.pipeline.operators.lines import arcs
from tiger.pipeline.operators.throughput.tables import tables_of

NONE: IntArray = np.empty(0, np.int64)


@pytest.mark.parametrize("seed", range(30))
def test_groups_sum_up_their_classes(seed: int) -> None:
    """What they take and hold; and they go where all of their classes may."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    label = np.unique(rng.integers(0, 4, terms.classes), return_inverse=True)[1].astype(np.int64)
    made = tables_of(terms, label, NONE)
    for g in range(label.max() + 1):
        inside = label[terms.of] == g
        np.testing.assert_allclose(made.work[g], terms.work[:, inside].sum(axis=1))
        assert made.memory[g] == pytest.approx(terms.memory[label == g].sum())
        assert (made.allowed[g] == terms.allowed[label == g].all(axis=0)).all()


@pytest.mark.parametrize("seed", range(30))
def test_readers_are_counted_by_group(seed: int) -> None:
    """Each edge between two groups once, by its producer; those within one for what others read as well."""
    terms = draw_terms(seed)
    made = tables_of(terms, np.arange(terms.classes), NONE)
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    outside = terms.of[producer] != terms.of[terms.consumer]
    assert made.reads.sum() == outside.sum()
    assert sorted(made.told.tolist()) == np.unique(producer[outside]).tolist()
    for g in range(terms.classes):
        for j in range(made.told_start[g], made.told_start[g + 1]):
            assert terms.of[made.told[j]] == g
            assert made.keeps[j] == (~outside & (producer == made.told[j])).sum()


@pytest.mark.parametrize("seed", range(10))
def test_stages_bind_the_classes_of_arcs(seed: int) -> None:
    """But where they are free."""
    terms = draw_terms(seed)
    every = np.arange(terms.classes)
    source, target = arcs(terms)
    made = tables_of(terms, every, np.arange(terms.devices))
    reader = np.repeat(every, np.diff(made.before_start))
    found = set(zip(made.before.tolist(), reader.tolist(), strict=True))
    assert found == {(a, b) for a, b in zip(source.tolist(), target.tolist(), strict=True) if a != b}
    assert len(made.before) == len(made.after)
    assert len(tables_of(terms, every, NONE).before) == 0
