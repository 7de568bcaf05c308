"""The seconds of operations on a device, measured or counted.

In: the operations of a layer on one rank (`operations`) and a type of device. Out: the seconds of each, and whether
they were measured, interpolated, extrapolated or counted (`timed`). Read `operations.py` first.
"""
