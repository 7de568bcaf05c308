"""The QPU access time that a use may take: it is claimed before a submission, by estimate, and settled after it."""

from threading import Condition

from tiger.errors import InputError


class QpuTime:
    """Hold `limit_s` seconds of QPU access time, for submissions from several threads.

    The first submission is out alone: from it on, what is out and what comes is counted at the most by which a
    submission took longer than its estimate.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s, self._used_s, self._claimed_s = limit_s, 0.0, 0.0
        self._excess, self._known, self._changed = 1.0, False, Condition()

    def claim(self, estimate_s: float | None) -> float:
        """Return the estimate, claimed for a submission.

        Raises InputError of `ising/qpu_time_s` where too little is left, and without an estimate to go by.
        """
        if estimate_s is None:
            raise InputError("ising/qpu_time_s", "expected none, as the machine publishes no times to estimate it by")
        with self._changed:
            self._changed.wait_for(lambda: self._known or not self._claimed_s)
            taken_s, needed_s = self._used_s + self._claimed_s * self._excess, estimate_s * self._excess
            if taken_s + needed_s > self.limit_s:
                wanted = f"the budget of {self.limit_s:g} s of QPU access time does not hold another submission"
                raise InputError("ising/qpu_time_s", f"{wanted}: {taken_s:.4g} s taken, {needed_s:.4g} s more needed")
            self._claimed_s += estimate_s
        return estimate_s

    def settle(self, estimate_s: float, used_s: float | None) -> None:
        """Replace an estimate by what was used; what is not known, as the answer is lost, stays at its estimate."""
        with self._changed:
            self._known = True
            self._claimed_s = max(self._claimed_s - estimate_s, 0.0)
            self._used_s += estimate_s * self._excess if used_s is None else used_s
            if used_s is not None and estimate_s > 0:
                self._excess = max(self._excess, used_s / estimate_s)
            self._changed.notify_all()
