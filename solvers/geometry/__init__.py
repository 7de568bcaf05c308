"""Mapping by construction: task graphs that are grids or tori, folded and cut to lie on the hardware.

In comes a problem, out come mappings, where its graph is a lattice. Read `geometry` first.
"""
