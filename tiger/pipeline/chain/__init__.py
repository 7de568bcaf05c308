"""Exact cuts and orders of devices for a chain of layers.

In: layers, and a cluster or given positions. Out: the line of stages with the smallest bottleneck and a lower bound, or
why no line fits (`shortfall`). Read `orders.py` first, then `minimax.py`, the bisection by sweeps over the layered
graph.
"""
