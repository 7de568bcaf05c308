"""Networks on GPU clusters: layers onto pipeline stages, stages and groups of ranks onto devices.

In: a model (`models`) and a cluster (`hardware`). Out: a report (`entry`), or text for a training system (`emission`).
Read `solve.py` first: it tells the placement of a chain of layers, one stage a call; `operators` places operator
graphs, `planning` chooses degrees of parallelism, `online` follows measured times.
"""
