"""Lower bounds on the load of the most loaded device, and searches that prove.

In come the terms of a placement, out come bounds and proved placements. Read `bound` first, then `exact`.
"""
