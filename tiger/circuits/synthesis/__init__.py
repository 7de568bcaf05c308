"""Circuits written in other ways before they are routed: linear functions, and stars of diagonal gates along lines.

In: a circuit as a Qiskit DAG. Out: circuits that are the same, SWAPs in them for the layout to absorb. Read
`variants.py` first.
"""
