"""Circuits written in other ways before they are routed: linear functions, Cliffords, rotations, stars along lines.

In: a circuit as a Qiskit DAG. Out: circuits that are the same, SWAPs in them for the layout to absorb. Read
`variants.py` first.
"""
