"""Searches by moves: descent and annealing of mappings, dense, sparse, and towards other objectives.

In come a problem and a mapping, out comes a mapping no worse. Read `local` first, with its `moves`; then `dense`
(restarts in `memetic`, on the `fields` of a `quadratic` assignment, or `tabu` search where that is random) and
`refinement` (at boundaries, by swaps, by ejection chains; of many tasks after `renumbering` by node).
"""
