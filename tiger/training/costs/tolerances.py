"""The relative tolerances for rounding of all placements."""

# A value meets its lower bound, and is called optimal, within this share of it.
MET = 1e-9
# Sums of up to a million numbers in float64, in whatever order, agree to this share; bounds are less by it.
SUMS = 1e-10
# Operators and layers fit into a device that they exceed by no more than this share: a tenth of a byte of 80 GB. Bytes
# are whole numbers in practice, whose sums are exact below 2^53; others, such as 0.1 + 0.2 of 0.3, need it.
MEMORY = 1e-12
# Nothing is called too large for a device unless it exceeds it by this share, more than sums can be wrong by.
TOO_LARGE = 1e-9
# Searches over ranks and orders of devices take a gain below this share for rounding.
GAIN = 1e-9


def meets(value: float, bound: float) -> bool:
    """Return whether a value equals its lower bound within rounding."""
    return value <= bound * (1 + MET)
