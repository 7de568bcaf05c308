"""The stages of the search for a plan of a chain, which `tiger.placement.solve` calls one after another.

In: a problem (`problem`). Out: plans offered to the incumbent (`incumbent`), and the result (`outcome`). Read
`orders.py` first: single devices in a line; `groups.py` is the same for groups of ranks, `refinement.py` moves cuts by
simulation.
"""
