"""Measurements behind the tables of the documentation; `python -m benchmarks` takes them again."""
