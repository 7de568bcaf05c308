"""The QPU access time that a use may take: it is claimed before a submission, by estimate, and settled after it."""

from threading import Lock

from tiger.errors import InputError


class QpuTime:
    """Hold `limit_s` seconds of QPU access time, for submissions from several threads."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s, self._used_s, self._claimed_s, self._lock = limit_s, 0.0, 0.0, Lock()
        # By what submissions took longer than was claimed, at most; estimates are raised by it.
        self._excess = 1.0

    def claim(self, estimate_s: float | None) -> float:
        """Return the seconds claimed for a submission; raises InputError of `ising/qpu_time_s` where too few are left.

        Without an estimate there is no budget to hold to.
        """
        if estimate_s is None:
            raise InputError("ising/qpu_time_s", "expected none, as the machine publishes no times to estimate it by")
        with self._lock:
            estimate_s *= self._excess
            taken_s = self._used_s + self._claimed_s
            if taken_s + estimate_s > self.limit_s:
                wanted = f"the budget of {self.limit_s:g} s of QPU access time does not hold another submission"
                raise InputError("ising/qpu_time_s", f"{wanted}: {taken_s:.4g} s taken, {estimate_s:.4g} s more needed")
            self._claimed_s += estimate_s
        return estimate_s

    def settle(self, claimed_s: float, used_s: float | None) -> None:
        """Replace what was claimed by what was used; what is not known stays at its estimate."""
        with self._lock:
            self._claimed_s -= claimed_s
            self._used_s += claimed_s if used_s is None else used_s
            if used_s is not None and claimed_s > 0:
                self._excess = max(self._excess, self._excess * used_s / claimed_s)
