"""The entry of circuits: what `tiger.layout` is given, how it is read, checked and written, and its report.

In: a circuit and a device in any form that `reading.py` and `hardware.py` know. Out: a `CircuitReport`. Read
`entry.py` first.
"""
