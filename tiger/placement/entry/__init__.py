"""Requests for placements, and their reports.

In: a model and a cluster in any form of a caller. Out: a `PlacementReport`. Read `place.py` first.
"""
