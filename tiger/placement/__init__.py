"""Networks on GPU clusters: layers onto pipeline stages, stages and groups of ranks onto devices.

In: a model and a cluster. Out: a report (`entry`), or text for a training system (`emission`). Read `solve.py` first:
it tells the placement of a chain of layers, one stage a call; `operators` places operator graphs. The memory of stages
is checked inside the dynamic program of `chain` in its `fitting_runs.py`, and that of every plan by `tiger.training`.
"""
