"""Whether to keep a plan that somebody has beside one that a search has found."""

from typing import NamedTuple

from tiger.model.units import seconds_text

# The share of its time that a plan has to save before a change is worth the work: the times of published runs differ
# from simulated ones by more, so that less may not be seen on the cluster.
WORTHWHILE = 0.02
# A share below which two plans are as quick.
SAME = 1e-4


class Weighing(NamedTuple):
    """Say whether to `keep` the plan given, the share of its time that the other saves, and both in words.

    `saved` is None where one of them does not fit.
    """

    keep: bool
    saved: float | None
    verdict: str


def weigh_plans(given_s: float, own_s: float | None, change: str = "", *, fits: bool) -> Weighing:
    """Return whether to keep a plan of so many seconds, if it `fits`, beside one of `own_s`, None where none was found.

    What is to `change` from one to the other is added where that pays.
    """
    if not fits:
        if own_s is None:
            return Weighing(False, None, "yours does not fit, and none was found that does")
        return Weighing(False, None, f"yours does not fit: TIGER's does in {seconds_text(own_s)}{change}")
    if own_s is None:
        return Weighing(True, None, "keep yours: none was found of what may be searched")
    saved = 1 - own_s / given_s if given_s else 0.0
    if saved < WORTHWHILE:
        little = f"TIGER's is {saved:.1%} quicker" if saved > SAME else "no quicker plan was found"
        return Weighing(True, saved, f"keep yours: {little}")
    times = f"{seconds_text(own_s)} instead of {seconds_text(given_s)}"
    return Weighing(False, saved, f"change it: TIGER's is {saved:.1%} quicker, {times}{change}")
