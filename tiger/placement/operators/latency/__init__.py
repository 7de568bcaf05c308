"""Search for a small makespan of one microbatch: HEFT, and annealing judged by list scheduling.

In come the terms of a placement, out comes the device of every colocation group. Read `search` first.
"""
