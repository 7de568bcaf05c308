"""Models whose layers change their cost while they train, simulated: factors of the times of layers, by intervals.

In: parameters and a seed. Out: for each interval what every decoder layer takes, as a multiple of what it takes at
first. They follow the six cases of DynMo, arXiv:2505.14864. Read `trajectory.py` first, then `spec.py`.
"""
