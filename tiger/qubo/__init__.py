"""A problem as a QUBO and back: encoding, penalties and their tuning, decoding and repair.

In come a problem and a window of it, out come a binary quadratic model and, for its samples, mappings. Read `ising`
first, which runs the chain of these steps, then `encode` and `decode`.
"""
