"""What stages of a circuit's mapping plan to do in the time that is left."""

from tiger.run.deadline import Deadline
from tiger.run.stage import Detail


def fit_work(work: int, stop: Deadline, unit_s: float) -> int:
    """Return as much of the work as fits the time left, so that what plans by its work comes to its end."""
    left_s = stop.left_s
    return work if left_s is None else max(min(work, int(left_s / unit_s)), 1)


def note_end(detail: dict[str, Detail], *, ended: bool) -> None:
    """Note in the figures of a stage that the time limit has ended it, or made it plan for less."""
    if ended:
        detail["shortened"] = True
