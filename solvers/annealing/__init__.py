"""Searches by moves: descent and annealing of mappings, dense, sparse, and towards other objectives.

In come a problem and a mapping, out comes a mapping no worse. Read `local` first, then `dense` and `refinement`.
"""
