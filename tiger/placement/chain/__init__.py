"""Exact cuts and orders of devices for a chain of layers.

In: layers, and a cluster or given positions. Out: the line of stages with the smallest bottleneck and a lower bound, or
why no line fits (`shortfall`). Read `best_order.py` first, then `cut_dp.py`, the dynamic program over
cuts; `fitting_runs.py` has the runs of layers whose memory fits.
"""
