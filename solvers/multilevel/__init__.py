"""Multilevel mapping: hardware halved, graphs coarsened and cut in two by Fiduccia and Mattheyses' moves.

In come a problem and a mapping, out comes a mapping no worse. Read `multilevel` first, then `dissection`, the mapping
in progress, and `fm_bisection`, one cut.
"""
