"""A solve under way: its incumbent, stages, progress and deadline, and the report in the end.

In come improvements of a mapping, out comes a `Report`. Read `incumbent` first.
"""
