"""Maps from slots of devices to experts under one objective: load, links and moves.

In: loads, transitions, a map in use, and prices (`objective.py`, read it first). Out: the map with the least price that
`search.py` finds, from maps that are best for one part each.
"""
