"""Costs of a mapping, and the other objectives.

In come a problem and a mapping, out come costs, loads of links and finishing times, and violations of constraints.
Read `cost` first, which states the cost that everything minimises, then `selection`, which names the objectives.
"""
