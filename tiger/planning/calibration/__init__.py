"""Times that follow a few measured iterations, by a factor for each kind of operation and of link.

In: a model, a cluster, and a table of plans that ran with their seconds. Out: the factors that option `costs` reads,
what predictions are off by with and without them, and how much of each factor the runs tell. Read `entry.py` first.
"""
