"""Qiskit's circuits in and out, and its passes and plugins.

In: a circuit as a Qiskit DAG and a Target or coupling map. Out: the routed DAG. Read `mapping.py` first; `plugin.py` is
what `layout_method="tiger"` and `routing_method="tiger"` call.
"""
