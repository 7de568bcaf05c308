"""The values that seed, effort and time limit of a solve may have."""

from tiger.errors import InputError
from tiger.model.wording import describe

# Seeds and efforts are int64 in kernels and documents; threads wait for at most 9.2e9 s (`threading.TIMEOUT_MAX`).
SEED_LIMIT = EFFORT_LIMIT = 1 << 63
TIME_LIMIT_S = 1e9
# Islands that search side by side, each with the effort of one.
MOST_ISLANDS = 256
MOST_THREADS = 1024


def check_limits(seed: object, effort: object, time_limit_s: object) -> None:
    """Raise InputError for a seed, an effort or a time limit out of range, TypeError for a limit that is no number.

    `seed` is in [0, 2**63), `effort` in [1, 2**63) or None, `time_limit_s` in (0, 1e9] or None.
    """
    if type(seed) is not int or not 0 <= seed < SEED_LIMIT:
        raise InputError("seed", f"expected a whole number from 0 to 2**63 - 1, got {describe(seed)}")
    if effort is not None and (type(effort) is not int or not 1 <= effort < EFFORT_LIMIT):
        raise InputError("effort", f"expected a whole number from 1 to 2**63 - 1, got {describe(effort)}")
    if time_limit_s is not None and not isinstance(time_limit_s, int | float):
        raise TypeError(f"time_limit_s: expected a number of seconds, got {type(time_limit_s).__name__}")
    if time_limit_s is not None and (isinstance(time_limit_s, bool) or not 0 < time_limit_s <= TIME_LIMIT_S):
        what = f"expected a finite number of seconds > 0, at most {TIME_LIMIT_S:g}"
        raise InputError("time_limit_s", f"{what}, got {describe(time_limit_s)}")


def check_islands(islands: object) -> None:
    """Raise InputError unless this is how many islands there may be, in [1, 256]."""
    if type(islands) is not int or not 1 <= islands <= MOST_ISLANDS:
        raise InputError("islands", f"expected a whole number from 1 to {MOST_ISLANDS}, got {describe(islands)}")
