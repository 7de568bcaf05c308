"""The search for the smallest largest load: dynamic programming over linear orders, annealing, multilevel.

In come the terms of a placement, out come devices of classes. Read `search` first.
"""
