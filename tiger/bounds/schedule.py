"""When lower bounds on the cost are worth their time in a solve, by the effort of its rounds."""

# The strong bound: {effort of a round that it runs before: (above, up to) this many task-node pairs}, and its ascents.
# Small problems are worth it sooner.
STRONG_PAIRS, STRONG_ITERATIONS = {4: (0, 256), 64: (256, 1024)}, 16
# The spread bound, of tasks that share nodes: it runs with work 1 after the first round, for 3 to 56 % of the time that
# the round took on the sparse benchmark, and with this work before a round of this effort.
SPREAD_EFFORT, SPREAD_WORK = 4, 4


def is_strong_due(pairs: int, efforts: range) -> bool:
    """Return whether the strong bound of a problem by its task-node pairs is due before one of the efforts."""
    due = [limits for effort, limits in STRONG_PAIRS.items() if effort in efforts]
    return any(over < pairs <= most for over, most in due)


def is_spread_due(efforts: range) -> bool:
    """Return whether the spread bound is due, with more work than after the first round, before one of the efforts."""
    return SPREAD_EFFORT in efforts
