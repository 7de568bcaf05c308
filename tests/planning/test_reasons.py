"""Tests of why plans are slower, and of why choices are ruled out."""

from tiger.planning.breakdown import Breakdown
from tiger.planning.pruning import Pruned
from tiger.planning.reasons import PlanTimes, why_misfit, why_pruned, why_slower
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.hardware.cluster import Cluster


def plan_and_breakdown(shape: tuple[int, int, int], seconds: tuple[float, float, float, float, float]) -> PlanTimes:
    """Return a plan of two layers a position, and where its time goes."""
    compute, tensor, messages, gradients, waiting = seconds
    spent = Breakdown(compute_s=compute, tensor_s=tensor, messages_s=messages, gradients_s=gradients, waiting_s=waiting)
    return Plan(cuts=tuple(range(0, 2 * shape[0] + 1, 2)), grid=rank_order(shape)), spent


def test_differences_are_named_with_their_links(large: tuple[object, Cluster]) -> None:
    """The largest first, what is gained last, and what hardly differs not at all."""
    best, other = plan_and_breakdown((4, 1, 1), (10, 0, 1, 0, 5)), plan_and_breakdown((1, 1, 4), (10, 8, 0, 0.01, 0))
    words = "8 s more in tensor-parallel all-reduces over 10 B/s between machines; 5 s less in waiting"
    assert why_slower(large[1], best, other) == f"2.01 s (12.6%) slower: {words}, 1 s less in pipeline messages"


def test_links_within_a_machine_are_told(large: tuple[object, Cluster]) -> None:
    """By the machines of both ends."""
    best, other = plan_and_breakdown((1, 1, 1), (10, 0, 0, 0, 0)), plan_and_breakdown((1, 2, 1), (10, 0, 0, 10, 0))
    words = "10 s more in all-reduces of gradients over 100 B/s within a machine"
    assert why_slower(large[1], best, other) == f"10 s (100.0%) slower: {words}"


def test_equal_plans_are_said_to_be_equal(large: tuple[object, Cluster]) -> None:
    """To a ten-thousandth."""
    one = plan_and_breakdown((1, 1, 1), (10, 0, 0, 0, 0))
    assert why_slower(large[1], one, one) == "as fast within 0.01 %"


def test_every_reason_has_its_figure() -> None:
    """Seconds or bytes of the closest choice."""
    said = {
        "links": "no links join as many devices",
        "memory": "a device holds 3 GB or more, and the largest has 2 GB",
        "work": "takes 3 s or more if no device ever waits, not below the best, 2 s",
        "cuts": "takes 3 s or more with the best of all cuts, not below the best, 2 s",
        "budget": "left out as the search ended; takes 3 s or more",
    }
    for reason, words in said.items():
        least = 3e9 if reason == "memory" else 3.0
        pruned = Pruned(reason=reason, choices=1, closest=None, least=least)  # type: ignore[arg-type] # one of them
        assert why_pruned(pruned, 2.0, 2e9) == words


def test_what_does_not_fit_lacks_bytes() -> None:
    """As far as that is known."""
    assert why_misfit(2e9) == "no plan was found that fits: the closest lacks 2 GB"
    assert why_misfit(0.0) == "no plan was found that keeps to links and memory"


def test_a_best_plan_may_take_no_time(large: tuple[object, Cluster]) -> None:
    """There is no share of that."""
    best, other = plan_and_breakdown((1, 1, 1), (0, 0, 0, 0, 0)), plan_and_breakdown((1, 2, 1), (0, 0, 0, 0, 2))
    assert why_slower(large[1], best, other) == "2 s slower: 2 s more in waiting"
