"""Tokens of an expert shared among its replicas so that devices are even, solved anew for each batch.

In: a map from slots to experts and the loads of batches. Out: the share of each slot and the largest loads
(`balancing.py`, read it first), and maps whose shares can follow loads that change (`annealing.py`).
"""
