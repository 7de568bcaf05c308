"""Measurements behind the tables of the README; `python -m benchmarks` takes them again."""
