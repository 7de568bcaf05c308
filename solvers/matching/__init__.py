"""Graphs put onto graphs: every edge on an edge where that can be, nearly every one where it cannot.

In come a guest and a target as neighbour lists, out come places of the guest's vertices. `monomorphism` is the exact
search, which circuits use as well.
"""
