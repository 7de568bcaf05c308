"""The first mapping that is allowed, or the reason why there is none.

In comes a problem, out comes the launch order made feasible, or sentences that name what conflicts. Read `start` first.
"""
