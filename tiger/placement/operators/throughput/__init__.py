"""Search for a small largest load: dynamic programming over linear orders, annealing, multilevel.

In come the terms of a placement, out comes the device of every colocation group. Read `search` first, then `annealer`;
`contiguous` for contiguous stages, `multilevel` for very many groups.
"""
