"""Conformance checks for implementations of the seams.

Each raises AssertionError with the broken promise, and returns what it could not check, a sentence for each.
"""

from tiger.mapping.conformance import check_partitioner, check_sampler, check_search, check_tuner

__all__ = ["check_partitioner", "check_sampler", "check_search", "check_tuner"]
