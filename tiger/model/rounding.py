"""How far a computed value can be from the true one: margins of floating point for bounds and proofs.

A sum of products of weights >= 0 errs relatively, by at most one unit roundoff for each rounding that a term goes
through; where terms cancel, the error is relative to their sizes instead and has to be taken off as it arises.

Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, SIAM 2002, chapters 3 and 4,
doi:10.1137/1.9780898718027.
"""

# Unit roundoff of a float64.
UNIT = 2.0**-53
# Values that differ by this share may be equal: sums of 9,000 terms >= 0 err by less (9,000 UNIT).
TIE = 1e-12
# A cost meets a lower bound, or a search has proved it, if it lies no further above: the most that bounds and searches
# may leave open.
ROUNDING = 4 * TIE
# Products of a few numbers from here to its inverse have all of their digits; far smaller ones lose some, and have no
# relative error.
TINY = 2.0**-900


def relative_error(roundings: int) -> float:
    """Return the largest relative error of a sum of terms >= 0, none of which goes through more `roundings`."""
    return roundings * UNIT / (1 - roundings * UNIT)


def meets(cost: float, bound: float) -> bool:
    """Return whether a cost equals a lower bound within rounding."""
    return cost <= bound + rounding(bound)


def rounding(bound: float) -> float:
    """Return how far a cost can be above a bound that it meets: nothing for a whole bound, as costs are whole then."""
    return 0.0 if bound.is_integer() else ROUNDING * abs(bound)


def compute_gap(cost: float | None, bound: float | None) -> float | None:
    """Return (cost - bound) / cost, 0 when both are 0, None without a cost or a bound above 0."""
    if cost is None or bound is None:
        return None
    if bound <= 0:
        return 0.0 if cost == 0 else None
    return (cost - bound) / cost
