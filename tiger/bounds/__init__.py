"""Lower bounds on the cost of every feasible mapping.

In comes a problem, out comes a float. Read `lower_bound` first, then `relaxation` (spectra and pairs of placements)
and `capacity` (flows, for tasks that share nodes).
"""
