"""What errors and time cost a routed circuit, and where on a device it loses least.

In: a route, the one-qubit operations of its circuit and the error rates of a device. Out: losses, depth and seconds,
and routes that lose less. Read `success.py` first for the formula, then `placement.py` for the search.
"""
