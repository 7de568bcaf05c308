"""Schedules of a pipeline: GPipe, 1F1B, interleaved, zero-bubble, ZB-V, DualPipeV, Chimera: simulated, bounded.

In: the costs of stages (`costs.stages`). Out: the seconds of an iteration and its timeline (`simulator`), the bytes
held, and whether they fit (`memory`), and lower bounds on all plans (`bound`, `best_cuts_bound`) or on given cuts
(`fixed_cuts_bound`). Read `pass_orders.py` first, then `simulator.py`.
"""
