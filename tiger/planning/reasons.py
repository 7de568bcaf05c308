"""Why one plan is slower than another, or was not looked at, in a sentence with figures."""

from collections.abc import Callable

from tiger.model.arrays import IntArray
from tiger.model.units import bytes_text, seconds_text
from tiger.planning.breakdown import Breakdown
from tiger.planning.pruning import Pruned
from tiger.planning.spans import data_links, pipeline_links, tensor_links
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster

PlanTimes = tuple[Plan, Breakdown]
# Parts of a difference below SHARE of the largest are not named, and plans within SAME are called as fast.
SHARE, SAME = 0.05, 1e-4


def why_slower(cluster: Cluster, best: PlanTimes, other: PlanTimes) -> str:
    """Return by how much a plan is slower than the best, and what it spends more and less time on.

    Parts below a twentieth of the largest difference are left out.
    """
    (_, least), (plan, spent) = best, other
    late = spent.total_s - least.total_s
    if late <= SAME * least.total_s:
        return "as fast within 0.01 %"
    parts = [
        (spent.waiting_s - least.waiting_s, "waiting"),
        (
            spent.tensor_s - least.tensor_s,
            _traffic_text("tensor-parallel all-reduces", tensor_links, cluster, plan.grid),
        ),
        (
            spent.groups_s - least.groups_s,
            _traffic_text("messages of ranks with the same layers", data_links, cluster, plan.grid),
        ),
        (spent.messages_s - least.messages_s, _traffic_text("pipeline messages", pipeline_links, cluster, plan.grid)),
        (
            spent.gradients_s - least.gradients_s,
            _traffic_text("all-reduces of gradients", data_links, cluster, plan.grid),
        ),
        (spent.compute_s - least.compute_s, "computing"),
    ]
    notable = SHARE * max(abs(difference) for difference, _ in parts)
    parts = sorted((part for part in parts if abs(part[0]) >= notable), key=lambda part: -abs(part[0]))
    more = [f"{seconds_text(each)} more in {what}" for each, what in parts if each > 0]
    less = [f"{seconds_text(-each)} less in {what}" for each, what in parts if each < 0]
    words = "; ".join(filter(None, (", ".join(more), ", ".join(less))))
    share = f" ({late / least.total_s:.1%})" if least.total_s else ""
    return f"{seconds_text(late)}{share} slower: {words}"


def why_misfit(lacking_bytes: float) -> str:
    """Return why a choice has no plan."""
    if not lacking_bytes:
        return "no plan was found that keeps to links and memory"
    return f"no plan was found that fits: the closest lacks {bytes_text(lacking_bytes)}"


def why_pruned(pruned: Pruned, best_s: float, room_bytes: float) -> str:
    """Return which bound ruled choices out, with the figure of the closest of them."""
    best = f"not below the best, {seconds_text(best_s)}"
    match pruned.reason:
        case "links":
            return "no links join as many devices"
        case "memory":
            return f"a device holds {bytes_text(pruned.least)} or more, and the largest has {bytes_text(room_bytes)}"
        case "work":
            return f"takes {seconds_text(pruned.least)} or more if no device ever waits, {best}"
        case "cuts":
            return f"takes {seconds_text(pruned.least)} or more with the best of all cuts, {best}"
        case "lighter":
            return "shares out or computes again more than memory asks for with these degrees"
        case "budget":
            return f"left out as the search ended; takes {seconds_text(pruned.least)} or more"


def _traffic_text(what: str, links: Callable[[Cluster, IntArray], str], cluster: Cluster, grid: IntArray) -> str:
    """Return what is sent, and over which links if over any."""
    where = links(cluster, grid)
    return f"{what} over {where}" if where else what
