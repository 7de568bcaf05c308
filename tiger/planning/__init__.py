"""Search for degrees of parallelism, microbatches and a schedule for a model on a cluster.

In come a model, a cluster and what is fixed of a plan (`params`), out comes a report of the best plans and of what
bounds ruled out. Read `entry` first, then `search`.
"""
