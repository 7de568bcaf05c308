"""Rank orders as launchers and schedulers read them: rank files, host lists, environments, patches, permutations.

In: a mapping of ranks to nodes, and the nodes. Out: text, and the command that takes it. Read `order.py` first, then
`formats.py`, which has the table of names, then the module of a format.
"""
