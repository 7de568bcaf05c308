"""Bound the largest load from below, and prove small placements optimal.

In come the terms of a placement and the best load known, out come a bound and proved placements. Read `bound` first,
then `column_generation` and `exact`.
"""
