"""Layouts and routes of quantum circuits on coupling maps, as graphs: no circuit of Qiskit comes in here.

In: a gate DAG (`gate_dag`), a coupling map (`coupling`) and error rates. Out: layouts and a `Route` (`route`).
`embedding` finds layouts without SWAPs, `ising` states layouts as QUBOs, `swaps` brings the qubits of every gate
together, `noise` counts errors and time. Read `gate_dag.py` first, then `swaps/router.py`.
"""
