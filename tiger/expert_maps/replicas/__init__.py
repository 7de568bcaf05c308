"""Replicas of experts onto slots of GPUs, so that the largest load of a GPU is small.

In: the load of each expert in each layer, slots, groups, nodes and GPUs (`loads.py`). Out: a map from slots to experts
with a lower bound (`balance.py`, read it first), and whether a change of the map in use pays (`verdict.py`).
"""
