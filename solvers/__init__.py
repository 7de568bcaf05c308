"""Searches on the problem itself, and samplers of its models.

In come a problem and a feasible mapping, or a binary model; out come a mapping no worse, or samples. Read `registry`
first: it names the solvers and says which searches suit a problem. `instance` is the form in which compiled searches
read a problem, `annealing` holds those that move tasks, `multilevel` those that cut large graphs, `geometry`
constructions for grids, `matching` embeddings of graphs in graphs, `samplers` what Ocean and D-Wave offer; `exact`,
`greedy` and `baselines` are small searches to compare with. QUBOs are built and tuned in `tiger.qubo`. `kernel`
declares functions that numba compiles, by the passes of `compiler`; `warm` compiles all of them.
"""
