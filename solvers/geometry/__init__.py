"""Mapping by construction: task graphs that are grids or tori, folded and cut to lie on the hardware.

In comes a problem, out come mappings, where its graph is a lattice. Read `geometry` first: `lattices` (with `squares`
and `diagonals`) finds the coordinates of tasks, `footprints` and `trees` the nodes to use, `folding` how axes lie on
axes, `slabs` which task goes where, and `planes` improves that. `boxes` cuts lattices into boxes of one node each,
whose grid `embedding` lays along the nodes, or which `quotients` has another search map.
"""
