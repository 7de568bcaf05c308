"""A plan, and the seconds and bytes of its stages.

In: layers, a cluster and a plan (`plan`). Out: the costs of each stage (`stages`), compared within `tolerances`.
Whether its bytes fit is in `schedules.memory`. Read `plan.py` first.
"""
