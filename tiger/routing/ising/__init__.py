"""The Ising formulations of circuit mapping, which propose layouts.

In: a gate DAG, a coupling map and a solver of the core. Out: layouts for a time in the circuit, to be routed. Read
`proposals.py` first; `static.py` places qubits once, `gatetasks.py` and what follows it place every gate.
"""
