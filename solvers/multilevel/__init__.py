"""Multilevel mapping: hardware halved, graphs coarsened and cut in two by Fiduccia and Mattheyses' moves.

In come a problem and a mapping, out comes a mapping no worse. Read `multilevel` first.
"""
