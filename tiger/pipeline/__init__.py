"""Networks on GPU clusters: layers onto pipeline stages, stages and groups of ranks onto devices.

In: a model (`models`) and a cluster (`hardware`). Out: a report (`entry`), or text for a training system (`emission`).
Read `solve.py` first: it tells the placement of a chain of layers, one stage a call; `operators` places operator
graphs, `planning` chooses degrees of parallelism, `online` follows measured times. The memory of every plan is checked
in `schedules/memory.py`, that of the stages inside the dynamic program of `chain` in its `fitting_runs.py`.
"""
