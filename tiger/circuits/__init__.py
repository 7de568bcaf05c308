"""Quantum circuits on coupling maps: layout and routing.

In: a circuit and a device. Out: the circuit on device qubits, with SWAPs and BRIDGEs. Read `solve.py` first: it is what
happens to a circuit from its first stage to its last, each a search of `tiger.routing`. `entry/` is in front of it for
callers, `transpiler/` for Qiskit.
"""
