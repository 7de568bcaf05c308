"""Devices of operators as a QUBO for any sampler, and what it returns made feasible.

In come the terms of a placement, out come devices of classes. Read `qubo` first, then `sampled`.
"""
