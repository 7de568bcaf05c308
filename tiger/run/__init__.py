"""A solve under way: its incumbent, stages, progress and deadline, and the report in the end.

In come improvements of a solution, out comes a `Report`. Read `incumbent` first, which every solve shares, then
`mapping`, the incumbent of a mapping problem, and `search_stage`, which runs a search on it.
"""
