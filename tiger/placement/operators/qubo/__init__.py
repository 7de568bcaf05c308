"""Encode the devices of operators as a QUBO for any sampler, decode and repair its samples.

In come the terms of a placement and a sampler, out comes the device of every colocation group. Read `qubo` first, then
`sampling`.
"""
