"""Tests of the count of what is ruled out."""

from tiger.planning.choices import Choice, Family
from tiger.planning.pruning import Pruned, PruningCounters

CHOICES = [
    Choice(family=Family(tensor=1, data=1, microbatch=1, microbatches=1), pipeline=count, schedule="1f1b")
    for count in (1, 2, 3)
]


def test_the_closest_of_each_reason_is_kept() -> None:
    """That with the least seconds, and the first of equal ones."""
    counters = PruningCounters()
    for choice, least in zip(CHOICES, (3.0, 2.0, 2.0), strict=True):
        counters.add("work", choice, least)
    counters.add("memory", CHOICES[0], 5.0, 4)
    assert counters.rows() == (
        Pruned(reason="work", choices=3, closest=CHOICES[1], least=2.0),
        Pruned(reason="memory", choices=4, closest=CHOICES[0], least=5.0),
    )
