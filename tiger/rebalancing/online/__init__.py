"""Plans that follow measured times of stages, a move at a time.

In: a model, a cluster, and the seconds of each stage as they are measured. Out: the next plan. Read `planner.py` first.
"""
