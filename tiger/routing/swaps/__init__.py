"""Routes of a circuit on a device: SWAPs and BRIDGEs that bring the qubits of every gate together.

In: a gate DAG, a coupling map, and layouts, mappings at some time or whole routes to begin with. Out: a `Route`. Read
`router.py` first, which chooses SWAPs for one routing; then `search.py`, which routes again and again with it and with
beams, and `windows.py`, which routes parts of the result again. `exact.py` finds the fewest of a small circuit.
"""
