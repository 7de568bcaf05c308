"""Samplers of models: Ocean's, D-Wave's quantum computers and Leap's hybrid solvers.

In come binary quadratic, constrained or nonlinear models, out come samples. Read `ocean` first.
"""
