"""Costs of a mapping, and the other objectives.

In come a problem and a mapping, out come costs, loads of links and finishing times, with what may not be (violations).
Read `cost` first, which states the cost that everything minimises, then `selection`, which names the objectives.
"""
