"""What all uses share: a solve under way, its report, what is said and drawn of it, and where it may run.

In come improvements of a solution, out comes a `Report`. Read `incumbent` first, which every solve shares, then
`mapping`, the incumbent of a mapping problem, and `search_stage`, which runs a search on it. `summary` and
`explanation` have what is said of the reports of all uses, `use` what a use states of itself.
"""
