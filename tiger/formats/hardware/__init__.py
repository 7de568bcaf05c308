"""Readers of hardware as its tools describe it: machines, switches and fabrics, with the distances of their levels.

In comes a text, out comes a `DescribedHardware`, which makes a `Topology` for any distances. Read `levels` first.
"""
