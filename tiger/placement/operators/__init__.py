"""Place the operators of a network on devices; a device may hold any set of them, within memory and colocation.

In come operators (`tiger.training.models`), a cluster and what is asked for (`params`); out comes the device of every
colocation group with bounds on its cost (`result`). Read `solve` first, then `operator_search`, whose stages use
`throughput` (largest load), `latency` (makespan), `bounds` and `qubo`. All of them work on the arrays of `terms`.
"""
